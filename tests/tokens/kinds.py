"""Texts of many kinds that never change, for counts that were taken elsewhere."""

import base64
import hashlib
import json


def _bytes(count: int) -> bytes:
    """The same bytes everywhere, without pattern."""
    blocks = (hashlib.sha256(str(number).encode()).digest() for number in range(count // 32 + 1))
    return b"".join(blocks)[:count]


_RIGHTS = {
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt. ",
    "french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison. ",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón. ",
    "swedish": "Alla människor är födda fria och lika i värde och rättigheter. ",
    "polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności. ",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. ",
    "indonesian": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak-hak yang sama. ",
    "vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. ",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. ",
    "russian": "Все люди рождаются свободными и равными в своем достоинстве и правах. ",
    "armenian": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։ ",
    "hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. ",
    "arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. ",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। ",
    "thai": "มนุษย์ทั้งปวงเกิดมามีอิสระและเสมอภาคกันในศักดิ์ศรีและสิทธิ ",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. ",
    "japanese": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "chinese": "人工智能是计算机科学的一个分支，它企图了解智能的实质，并生产出新的智能机器。",
}  # fmt: skip

_CODE = '''class Basket(Generic[Item]):
    """Holds items and their prices."""

    MAX_ITEMS = 1_000

    def __init__(self, owner: str, *, is_open: bool = True) -> None:
        self._items: dict[str, Item] = {}
        self.owner, self.is_open = owner, is_open

    def add(self, item: Item, count: int = 1) -> None:
        if not self.is_open or len(self._items) >= self.MAX_ITEMS:
            raise BasketError(f"{self.owner}'s basket is closed")
        for number in range(count):
            self._items[f"{item.name}-{number:03d}"] = item  # the same item, several times

    @property
    def total(self) -> float:
        return sum(item.price for item in self._items.values()) * (1 + TAX_RATE)
'''

_NOTE = """# Bread oven

- [x] Dry the dome for **three weeks** (no fire before the 14th)
- [ ] Order 12 fire bricks, see [[Wood]] and [[Firing#First fire]]

> The floor reached 310 °C after two hours; the dome went white at 1 h 40.

| day | wood | peak |
|---|---|---|
| Mon | 4.5 kg | 285 °C |
| Tue | 5 kg | 310 °C |

See https://example.org/ovens?id=42 for the drawings, and `firing.csv` for the log. #oven #garden
"""

KINDS = {
    **{name: text * 4 for name, text in _RIGHTS.items()},
    "english": "People read the notes they wrote last year and find that half are still true. " * 8,
    "shouted": "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG AND RUNS AWAY FROM THE HOUND. " * 5,
    "names": " ".join(["getUserById", "parse_http_header", "MAX_BUFFER_SIZE", "__init__"] * 20),
    "code": _CODE * 2,
    "note": _NOTE * 2,
    "indents": "\n".join("    " * (number % 6) + "x = call(y)" for number in range(90)),
    "json": json.dumps([{"id": n, "name": "alpha", "ok": True, "at": n / 7} for n in range(60)]),
    "csv": "\n".join(f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d},{n * 1.37:.2f},{n % 7},ok" for n in range(90)),
    "table": "\n".join(f"| item {n} | {n * 37} | some note |" for n in range(60)),
    "html": "".join(f'<div class="row r{n}"><a href="/p/{n}?q=1">Link {n}</a></div>\n' for n in range(40)),
    "diff": "".join(f"@@ -{n},3 +{n},4 @@\n-old line {n}\n+new line {n}\n context\n" for n in range(40)),
    "numbers": ",".join(f"{n * 7.31:.3f}" for n in range(1, 300)),
    "hex": _bytes(1_500).hex(),
    "base64": base64.b64encode(_bytes(2_000)).decode(),
    "emoji": "😀🎉👍🏽 👩‍💻 🚀🔥 " * 8,
}  # fmt: skip

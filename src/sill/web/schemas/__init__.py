"""Everything that goes over the wire, as typed models; parsed here once and nowhere else."""

"""What the commands find out, as frozen values, one file per command. Reports and programs see nothing else."""

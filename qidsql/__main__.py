"""python -m qidsql"""

from qidsql.cli import main

if __name__ == "__main__":
    main()

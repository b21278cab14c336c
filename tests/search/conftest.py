from tests.adult import adult, adult_path

__all__ = ["adult", "adult_path"]

"""Rules that end with what is no Exception."""


class E(BaseException):
    pass


raise E

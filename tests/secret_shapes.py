"""What people take for a source, with a secret in it: two hundred shapes. The host is this machine: nobody answers."""

from tests.aviary import SECRET

HOST = "127.0.0.1:1"
SCHEMES = [
    *(
        "postgresql",
        "postgres",
        "mysql",
        "duckdb",
        "md",
        "snowflake",
        "bigquery",
        "redshift",
        "mssql",
        "sqlite",
        "http",
    ),
    *("https", "s3", "gs", "clickhouse", "trino", "mongodb", "redis", "postgresql+psycopg", "jdbc:postgresql"),
]
WITH_SCHEME = [
    "{scheme}://u:{secret}@{host}/d",
    "{scheme}://:{secret}@{host}/d",
    "{scheme}://u:{secret}@{host}/d?x=1&y=2",
    "{scheme}://u:{secret}p@ss/word@{host}/d",
    "{scheme}://{host}/d?password={secret}",
    "{scheme}://u@{host}/d?token={secret}",
    "{scheme}://{host}/d;pwd={secret}",
    "{scheme}:u:{secret}@{host}",
]
OTHERS = [
    "u:{secret}@{host}/d",
    "u:{secret}@localhost",
    "//u:{secret}@{host}/share",
    "scott/{secret}@{host}/orcl",
    "jdbc:oracle:thin:scott/{secret}@{host}:x",
    "host=127.0.0.1 port=1 password={secret}",
    "password={secret} host=127.0.0.1 port=1",
    "password = '{secret} b' host=127.0.0.1 port=1",
    "PASSWORD={secret} HOST=x",
    "service=none password={secret}",
    "host=127.0.0.1 port=1 sslpassword={secret}",
    "Server=h;Uid=u;Pwd={secret};",
    "Pwd={secret};Server=h",
    "DSN=x;UID=u;PWD={secret}",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={secret}",
    "AccountKey={secret}",
    "token={secret}",
    "api_key={secret}",
    "clinic.duckdb?memory_limit={secret}",
    "clinic.duckdb?threads={secret}",
    "clinic.duckdb?password={secret}",
    "clinic.duckdb?{secret}=1",
    "clinic.duckdb?encryption_key={secret}&threads=1",
    "birds.csv?header={secret}",
    "birds.csv?{secret}=true",
    "nowhere.csv?header={secret}",
    "md:db?motherduck_token={secret}",
    "md:db?saas_mode=true&motherduck_token={secret}",
    "duckdb:u:{secret}@h/x.duckdb",
    "duckdb:clinic.duckdb?memory_limit={secret}",
    "duckdb:///nowhere.duckdb?key={secret}",
    "postgresql:///d?host=/nowhere&password={secret}",
    "postgresql:///d?host=/nowhere&sslpassword={secret}",
    "postgresql://u:{secret}@[::1]:1/d",
    "postgresql://u:%63nrysecret%40{secret}@{host}/d",
    "postgresql://u:{secret}#x@{host}/d",
    "postgresql://u:{secret}?x@{host}/d",
    "https://hooks.slack.com/services/T0/B0/{secret}",
    "https://{secret}@{host}/x.parquet",
    "https://{host}/x.parquet?X-Amz-Signature={secret}",
    "https://{host}/x.parquet?sig={secret}#part",
    "s3://key:{secret}@bucket/x.parquet",
    "az://container/x.parquet?sig={secret}",
    "env:postgresql://u:{secret}@{host}/d",
    "env:password={secret}",
]


def shapes() -> list[str]:
    """All of them."""
    made = [form.format(scheme=scheme, secret=SECRET, host=HOST) for scheme in SCHEMES for form in WITH_SCHEME]
    return [*made, *(form.format(secret=SECRET, host=HOST) for form in OTHERS)]

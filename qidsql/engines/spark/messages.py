"""The messages of Spark Connect that qidsql exchanges, as far as it uses them: their fields, and the fields' numbers.

The protocol is public and its numbers never change (spark/connect/base.proto, relations.proto, types.proto); fields
that are not listed are ignored when they arrive. So no Spark client is needed, whose retries cannot be interrupted and
whose log quotes statements.
"""

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "spark.connect"
SERVICE = "/spark.connect.SparkConnectService/"
OPERATION = 3  # INTERRUPT_TYPE_OPERATION_ID
MARK = "[]"  # of a list

OF_REQUEST = {"session_id": (1, "string"), "user_context": (2, "UserContext")}
OBSERVED = "client_observed_server_side_session_id"  # of requests: the last that the server answered with
SERVED = "server_side_session_id"  # of answers: the server's own name of the session, another after a restart
NAMES = (  # of the types of columns, as SQL has them, by their numbers in DataType from 1
    "null binary boolean tinyint smallint int bigint float double decimal string char varchar date timestamp "
    "timestamp_ntz interval interval_year_to_month interval_day_to_second array struct map user_defined unparsed "
    "variant geometry geography time"
)
TYPES = {name: number for number, name in enumerate(NAMES.split(), 1)}
DETAILS = {"decimal": "Decimal", "string": "String", "char": "Length", "varchar": "Length"}
DETAILS |= {"array": "Array", "struct": "Struct"}
MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Empty": {},
    "UserContext": {"user_id": (1, "string"), "user_name": (2, "string")},
    "SQL": {"query": (1, "string")},
    "Relation": {"sql": (10, "SQL")},
    "Plan": {"root": (1, "Relation")},
    "ExecutePlanRequest": {
        **OF_REQUEST,
        "plan": (3, "Plan"),
        "client_type": (4, "string"),
        "operation_id": (6, "string"),
        OBSERVED: (8, "string"),
    },
    "ExecutePlanResponse": {"arrow_batch": (2, "ArrowBatch"), SERVED: (15, "string")},
    "ArrowBatch": {"row_count": (1, "int64"), "data": (2, "bytes")},
    "OfPlan": {"plan": (1, "Plan")},
    "AnalyzePlanRequest": {
        **OF_REQUEST,
        "schema": (4, "OfPlan"),
        "input_files": (9, "OfPlan"),
        OBSERVED: (17, "string"),
    },
    "AnalyzePlanResponse": {"schema": (2, "Schema"), "input_files": (7, "Files"), SERVED: (15, "string")},
    "Schema": {"schema": (1, "DataType")},
    "Files": {"files": (1, "string[]")},
    "DataType": {name: (number, DETAILS.get(name, "Empty")) for name, number in TYPES.items()},
    "Decimal": {"scale": (1, "int32"), "precision": (2, "int32")},
    "String": {"collation": (2, "string")},
    "Length": {"length": (1, "int32")},
    "Array": {"element_type": (1, "DataType")},
    "Struct": {"fields": (1, "Field[]")},
    "Field": {"name": (1, "string"), "data_type": (2, "DataType"), "nullable": (3, "bool")},
    "InterruptRequest": {**OF_REQUEST, "interrupt_type": (4, "int32"), "operation_id": (6, "string")},
    "InterruptResponse": {},
    "ConfigRequest": {**OF_REQUEST, "operation": (3, "Operation"), OBSERVED: (8, "string")},
    "Operation": {"set": (1, "Pairs")},
    "Pairs": {"pairs": (1, "Pair[]")},
    "Pair": {"key": (1, "string"), "value": (2, "string")},
    "ConfigResponse": {SERVED: (4, "string")},
    "ReleaseSessionRequest": OF_REQUEST,
    "ReleaseSessionResponse": {},
    # of an error, from google/rpc/status.proto and error_details.proto
    "Status": {"details": (3, "Any[]")},
    "Any": {"type_url": (1, "string"), "value": (2, "bytes")},
    "ErrorInfo": {"reason": (1, "string"), "metadata": (3, "Pair[]")},
}


@cache
def message_class(name: str) -> Any:
    """The class of that message: a protobuf message, apart from those of any Spark client in the same process."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="qidsql.proto", package=PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            plain = kind.removesuffix(MARK)
            label = "LABEL_REPEATED" if kind != plain else "LABEL_OPTIONAL"
            added = message.field.add(name=field, number=number, label=label)
            if plain in MESSAGES:
                added.type_name = f".{PACKAGE}.{plain}"
            else:
                added.type = f"TYPE_{plain.upper()}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool

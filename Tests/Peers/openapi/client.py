"""Uses the client that openapi-python-client made, in the folder above `larder_client`.

  client.py URL USER_TOKEN DEVICE_TOKEN ADMIN_TOKEN
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path.cwd()))

from larder_client import AuthenticatedClient, Client, models  # noqa: E402
from larder_client.api.accounts import show_user, sign_in  # noqa: E402
from larder_client.api.administration import explain, list_upstreams, purge, sql  # noqa: E402
from larder_client.api.changes import list_changes  # noqa: E402
from larder_client.api.devices import show_device  # noqa: E402
from larder_client.api.entities import (  # noqa: E402
    insert_entity, list_entities, list_entity_types, read_entity, write_entities,
)
from larder_client.api.files import list_files  # noqa: E402
from larder_client.api.operating import list_operations, readiness  # noqa: E402
from larder_client.api.operations import (  # noqa: E402
    book, books, items, retitle, search_operation,
)
from larder_client.api.sync_queue import hand_over_mutations, show_mutation  # noqa: E402

URL, USER, DEVICE, ADMIN = sys.argv[1:]
anyone = Client(base_url=URL)
user = AuthenticatedClient(base_url=URL, token=USER)
device = Client(base_url=URL, headers={"Device-Token": DEVICE})
admin = AuthenticatedClient(base_url=URL, token=ADMIN)


def of_type(value, *types):
    assert isinstance(value, types), value
    return value


# Queries: the types are those of the selection sets.
one = of_type(book.sync(client=anyone, isbn="978-1"), models.BookResponse)
found = one.data.book
assert found.title == "Volume 1" and found.pages == 101, one
assert found.format_ == models.Format.PAPERBACK, one
assert found.author.name == "Olga Tokarczuk" and found.author.books[0].price.currency == "EUR", one
assert of_type(book.sync(client=anyone, isbn="none"), models.BookResponse).data.book is None
several = of_type(
    books.sync(client=anyone, isbns=["978-2", "978-3"], format_=models.Format.PAPERBACK), models.BooksResponse
)
assert [each.isbn for each in several.data.books] == ["978-2"], several
kinds = {type(each).__name__ for each in of_type(items.sync(client=anyone), models.ItemsResponse).data.items}
assert kinds == {"ItemsItemsOnAudioBook", "ItemsItemsOnOther"}, kinds
hits = of_type(search_operation.sync(client=anyone, text="Lem"), models.SearchResponse).data.find
assert [type(each).__name__ for each in hits] == ["SearchFindOnAuthor"], hits

# A request that the service refuses is a problem with its status and code.
refused = book.sync_detailed(client=AuthenticatedClient(base_url=URL, token="x.y.z"), isbn="978-1")
assert refused.status_code in (200, 401), refused
wrong = of_type(books.sync(client=anyone, first=1 << 40), models.BadRequestProblem)
assert wrong.code == "invalid_variables" and wrong.errors[0].parameter == "first", wrong

# A mutation, at once and by the queue.
titled = of_type(
    retitle.sync(client=user, body=models.RetitleBody(isbn="978-4", title="New")), models.RetitleResponse
)
assert titled.data.retitle.title == "New", titled
variables = models.MutationRequestVariables.from_dict({"isbn": "978-5", "title": "Queued"})
receipt = of_type(
    hand_over_mutations.sync(
        client=device, idempotency_key="key-1",
        body=models.MutationRequest(operation="Retitle", variables=variables),
    ),
    models.MutationReceipt,
)
shown = of_type(show_mutation.sync(client=device, id=receipt.id, wait=20.0), models.QueuedMutation)
assert shown.state in (models.MutationState.APPLIED, models.MutationState.QUEUED, models.MutationState.INFLIGHT), shown

# Entities, of both kinds.
types = {each.name for each in of_type(list_entity_types.sync(client=anyone), models.EntityTypeList).types}
assert {"Book", "Loan"} <= types, types
page = of_type(list_entities.sync(client=anyone, type_="Book", limit=2, order="pages"), models.EntityPage)
assert len(page.items) == 2 and page.items[0].pages == 101, page
loan = insert_entity.sync_detailed(
    client=device, type_="Loan", body=models.LoanInput(title="Holidays", days=3, book="978-1")
)
assert loan.status_code == 201 and loan.parsed.title == "Holidays", loan
read = read_entity.sync(client=device, type_="Loan", id=loan.parsed.id)
assert read.days == 3 and read.book == "978-1", read
taken = of_type(
    insert_entity.sync(client=device, type_="Loan", body=models.LoanInput(id=loan.parsed.id, title="Again")),
    models.ConflictProblem,
)
assert taken.code == "entity_exists", taken
outcome = of_type(
    write_entities.sync(client=device, body=[models.EntityWrite(op=models.EntityWriteOp.DELETE, type_="Loan", id=loan.parsed.id)]),
    models.EntityWriteOutcomes,
)
assert outcome.items == [None], outcome
changes = of_type(list_changes.sync(client=anyone, types="Book", limit=1), models.ChangePage)
assert changes.changes[0].type_ == "Book" and changes.complete is False, changes

# Accounts, devices, files and operators.
assert of_type(show_user.sync(client=user), models.Account).email == "reader@example.com"
denied = sign_in.sync(client=anyone, body=models.Credentials(email="reader@example.com", password="wrong"))
assert of_type(denied, models.UnauthorizedProblem).code == "invalid_credentials", denied
assert of_type(show_device.sync(client=device), models.Device).platform == "test"
assert of_type(list_files.sync(client=admin, bucket="covers"), models.FileList).contents[0].key == "0"
assert of_type(list_operations.sync(client=anyone), models.OperationList).operations[0].name == "Book"
assert of_type(readiness.sync(client=anyone), models.Readiness).ready is True
assert of_type(list_upstreams.sync(client=admin), models.UpstreamList).items[0].reachable is True
assert of_type(list_upstreams.sync(client=user), models.UnauthorizedProblem).code == "unauthenticated"
answer = of_type(sql.sync(client=admin, body=models.SQLRequest(sql="SELECT 1 AS one")), models.SQLResult)
assert answer.columns == ["one"] and answer.rows == [[1]], answer
question = models.ExplainRequest(
    operation="Book", variables=models.ExplainRequestVariables.from_dict({"isbn": "978-1"})
)
assert of_type(explain.sync(client=admin, body=question), models.Explanation).decision == "serve"
assert of_type(purge.sync(client=admin, body=models.PurgeRequest(type_="Book")), models.PurgeResult).purged >= 0

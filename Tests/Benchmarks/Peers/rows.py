"""The rows of each workload as tuples, parents first: (table, columns, rows)."""
from datetime import datetime, timezone

# Tables whose rows are never deleted, because other rows may reference them.
KEPT = {"Company", "Author"}


def date(text):
    """Returns a date in the format that GRDB and Sync store."""
    return datetime.fromisoformat(text).astimezone(timezone.utc).isoformat(" ", "milliseconds")[:23]


def rows_of(workload, records):
    return {"users": users, "documents": documents, "regions": regions}[workload](records)


def users(records):
    companies = {u["company"]["id"]: (u["company"]["id"], u["company"]["name"]) for u in records}
    yield "Company", ["id", "name"], companies.values()
    yield "User", [
        "id", "firstName", "lastName", "email", "age", "score", "active", "createdAt", "updatedAt", "companyID"
    ], ((u["id"], u["first_name"], u["last_name"], u["email"], u["age"], u["score"], u["active"],
         date(u["created_at"]), date(u["updated_at"]), u["company"]["id"]) for u in records)
    yield "Note", ["id", "text", "createdAt", "userID"], (
        (n["id"], n["text"], date(n["created_at"]), u["id"]) for u in records for n in u["notes"])
    yield "Tag_users", ["tagID", "userID"], ((tag, u["id"]) for u in records for tag in u["tags_ids"])


def documents(records):
    authors = {d["author"]["id"]: (d["author"]["id"].upper(), d["author"]["name"]) for d in records}
    yield "Author", ["id", "name"], authors.values()
    yield "Document", ["id", "title", "state", "priority", "amount", "archived", "createdAt", "authorID"], (
        (d["id"].upper(), d["title"], d["state"], d["priority"], d["amount"], d["archived"], date(d["created_at"]),
         d["author"]["id"].upper()) for d in records)


LEVELS = [("Region", "stores"), ("Store", "departments"), ("Department", "aisles"), ("Aisle", "shelves"),
          ("Shelf", "products"), ("Product", None)]


def regions(records):
    owned = [(None, record) for record in records]
    owner_column = None
    for table, children in LEVELS:
        columns = ["id", "name", "updatedAt"]
        more = ["price", "stock"] if table == "Product" else []
        yield table, columns + more + ([owner_column] if owner_column else []), [
            (r["id"], r["name"], date(r["updated_at"]), *(r[c] for c in more), *([owner] if owner_column else []))
            for owner, r in owned]
        if children:
            owned = [(r["id"], child) for _, r in owned for child in r[children]]
            owner_column = table.lower() + "ID"

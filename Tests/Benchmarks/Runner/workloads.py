"""The four workloads. Each class generates records, the changes of a delta, and the payloads of small calls."""
from random import Random
from uuid import UUID

FIRST = "Ada Björn Carla Dmitri Élise Farid Grace Hiro Inês José Karin Liam Mei Nora Omar Pia Quentin Rosa Søren".split()
LAST = "Smith Müller García Nguyen Okafor Petrov Rossi Sato Tremblay Virtanen Walker Xu Young Zimmermann Costa".split()
WORDS = ("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore "
         "magna aliqua enim minim veniam quis nostrud exercitation ullamco laboris").split()
ZONES = ["+00:00", "+02:00", "-05:00", "+05:30", "Z"]
# The first key of the rows that the small calls write, above all other keys.
FAR = 1_000_000_000


def date(random):
    return "20%02d-%02d-%02dT%02d:%02d:%02d%s" % (
        random.randint(10, 25), random.randint(1, 12), random.randint(1, 28), random.randint(0, 23),
        random.randint(0, 59), random.randint(0, 59), random.choice(ZONES))


def text(random, length):
    words = random.choices(WORDS, k=length // 5)
    result = " ".join(words)[:length].strip()
    # Some texts contain characters that JSON must escape.
    return result[:30] + ' "quoted"\n' + result[38:] if random.random() < 0.05 else result


class ScatteredKeys:
    """The keys 1, 2, 3, … in an order without locality, computed without a list."""

    def __init__(self, count):
        self.modulus = count
        self.factor = int(count * 0.618) | 1
        while not self._prime_to(self.factor, count):
            self.factor += 2
        self.next = 0

    @staticmethod
    def _prime_to(a, b):
        while b:
            a, b = b, a % b
        return a == 1

    def __call__(self):
        self.next += 1
        return self.next * self.factor % self.modulus + 1


class Users:
    """Users with a company, notes and tags: nested objects, IDs, dates, real numbers."""

    about = {"entity": "User", "setup_entity": "Tag", "thousand": "User", "single": "User",
             "parent": f"User:{FAR}", "children": "Note"}

    def __init__(self, size):
        self.records = size
        self.random = Random("users")
        self.note_keys = ScatteredKeys(6 * size + 1)

    def setup(self):
        return [{"id": i, "name": f"tag {i}"} for i in range(1, 1001)]

    def base(self):
        return (self.user(i, self.random) for i in range(1, self.records + 1))

    def new(self):
        return (self.user(self.records + i, self.random) for i in range(1, self.records // 100 + 1))

    def company(self, random):
        company = random.randint(1, 500)
        return {"id": company, "name": f"Company {company} GmbH"}

    def tags(self, random):
        return sorted(random.sample(range(1, 1001), random.randint(0, 5)))

    def note(self, random):
        return {"id": self.note_keys(), "text": text(random, 80), "created_at": date(random)}

    def user(self, key, random):
        first, last = random.choice(FIRST), random.choice(LAST)
        return {
            "id": key, "first_name": first, "last_name": last, "email": f"{first}.{last}.{key}@example.com".lower(),
            "age": random.randint(18, 90), "score": round(random.random() * 1000, 3), "active": random.random() < 0.7,
            "created_at": date(random), "updated_at": date(random), "company": self.company(random),
            "notes": [self.note(random) for _ in range(random.randint(0, 4))], "tags_ids": self.tags(random)}

    def changed(self, user, random):
        chance = random.random()
        if chance < 0.01:
            return None
        if chance > 0.99:
            user.update(updated_at=date(random), age=user["age"] + 1)
            kind = random.randrange(4)
            if kind == 0:
                user["notes"].append(self.note(random))
            elif kind == 1 and user["notes"]:
                user["notes"].pop()
            elif kind == 2 and user["notes"]:
                user["notes"][0]["text"] = text(random, 80)
            else:
                user.update(company=self.company(random), tags_ids=self.tags(random), first_name="Changed")
        return user

    def touched(self, user, variant):
        return {**user, "age": 18 + variant, "updated_at": f"2026-01-{variant + 1:02d}T10:00:00Z"}

    def single(self, variant):
        user = self.user(FAR, Random("single"))
        return {**self.touched(user, variant), "notes": self.notes(10, variant, FAR)}

    def children(self, variant):
        return self.notes(100, variant, FAR)

    def notes(self, count, variant, first):
        random = Random("notes")
        notes = [{"id": first + i, "text": text(random, 80), "created_at": date(random)} for i in range(count)]
        for i in range(max(2, count // 10)):
            notes[i]["text"] = f"Changed for the {variant}. time"
        for i in range(max(1, count // 50)):
            notes[-1 - i]["id"] += (variant + 1) * 1000
        return notes


class Documents:
    """Flat records with UUID keys in random order, each with an author."""

    AUTHOR = "ffffffff-0000-4000-8000-000000000001"
    about = {"entity": "Document", "setup_entity": "Author", "thousand": "Document", "single": "Author",
             "parent": f"Author:{AUTHOR}:documents", "children": "Document"}

    def __init__(self, size):
        self.records = size
        self.random = Random("documents")
        authors = Random("authors")
        self.authors = [{"id": self.key(authors), "name": f"{authors.choice(FIRST)} {authors.choice(LAST)}"}
                        for _ in range(size // 100 + 1)]

    @staticmethod
    def key(random):
        return str(UUID(int=random.getrandbits(128), version=4))

    def setup(self):
        return []

    def base(self):
        return (self.document(self.random) for _ in range(self.records))

    def new(self):
        return (self.document(self.random) for _ in range(self.records // 100))

    def document(self, random):
        return {**self.values(random), "author": random.choice(self.authors)}

    def values(self, random):
        return {
            "id": self.key(random), "title": text(random, 40), "state": random.choice(["draft", "sent", "paid"]),
            "priority": random.randint(1, 5), "amount": round(random.random() * 10_000, 2),
            "archived": random.random() < 0.2, "created_at": date(random)}

    def changed(self, document, random):
        chance = random.random()
        if chance < 0.01:
            return None
        if chance > 0.99:
            document.update(state="changed", priority=document["priority"] + 1, author=random.choice(self.authors))
        return document

    def touched(self, document, variant):
        return {**document, "priority": 10 + variant, "state": f"state {variant}"}

    def single(self, variant):
        return {"id": self.AUTHOR, "name": f"Author {variant}", "documents": self.owned(10, variant)}

    def children(self, variant):
        return self.owned(100, variant)

    def owned(self, count, variant):
        random = Random("owned")
        documents = [self.values(random) for _ in range(count)]
        for i in range(max(2, count // 10)):
            documents[i] = self.touched(documents[i], variant)
        for i in range(max(1, count // 50)):
            documents[-1 - i]["id"] = self.key(Random(f"replaced {variant} {i}"))
        return documents


class Regions:
    """Six entities with nested lists: region, store, department, aisle, shelf, product."""

    LEVELS = ["stores", "departments", "aisles", "shelves", "products"]
    about = {"entity": "Region", "setup_entity": "Region", "thousand": "Region", "single": "Shelf",
             "parent": f"Shelf:{FAR}", "children": "Product"}

    def __init__(self, size):
        self.size = size
        self.records = max(1, size // 364)
        self.random = Random("regions")
        self.keys = ScatteredKeys(2 * size + 5000)

    def setup(self):
        return []

    def base(self):
        return (self.node(0, self.random) for _ in range(self.records))

    def new(self):
        return (self.node(0, self.random) for _ in range(self.records // 100))

    def node(self, level, random):
        node = {"id": self.keys(), "name": text(random, 20), "updated_at": date(random)}
        if level == len(self.LEVELS):
            node.update(price=round(random.random() * 100, 2), stock=random.randint(0, 500))
        else:
            node[self.LEVELS[level]] = [self.node(level + 1, random) for _ in range(random.randint(2, 4))]
        return node

    def changed(self, node, random, level=0):
        if random.random() < 0.01:
            node["name"] = text(random, 20)
        if level == len(self.LEVELS):
            return None if random.random() < 0.015 else node
        key = self.LEVELS[level]
        children = (self.changed(child, random, level + 1) for child in node[key])
        node[key] = [child for child in children if child is not None]
        if level == len(self.LEVELS) - 1 and random.random() < 0.045:
            node[key].append(self.node(level + 1, random))
        return node

    def touched(self, node, variant):
        return {**node, "name": f"Name {variant}"}

    def single(self, variant):
        return {"id": FAR, "name": f"Shelf {variant}", "products": self.products(10, variant)}

    def children(self, variant):
        return self.products(100, variant)

    def products(self, count, variant):
        random = Random("products")
        products = [{**self.node(len(self.LEVELS), random), "id": FAR + i} for i in range(count)]
        for i in range(max(2, count // 10)):
            products[i]["stock"] = 1000 + variant
        for i in range(max(1, count // 50)):
            products[-1 - i]["id"] += (variant + 1) * 1000
        return products


class Packages:
    """Flat records with a composite key of name and version, each with a publisher. Their `id` combines both, for the
    same rows with one key."""

    about = {"entity": "Package", "setup_entity": "Package", "thousand": "Package", "single": "Publisher",
             "parent": f"Publisher:{FAR}", "children": "Package"}

    def __init__(self, size):
        self.records = size
        self.random = Random("packages")
        self.keys = ScatteredKeys(2 * size + 5000)

    def setup(self):
        return []

    def base(self):
        return (self.package(self.random) for _ in range(self.records))

    def new(self):
        return (self.package(self.random) for _ in range(self.records // 100))

    @staticmethod
    def key(number):
        """Ten versions of each name."""
        name, version = f"{WORDS[number // 10 % len(WORDS)]}-{number // 10}", f"{number % 10}.{number % 7}.0"
        return {"id": f"{name}@{version}", "name": name, "version": version}

    def package(self, random):
        publisher = random.randint(1, 500)
        return {**self.key(self.keys()), **self.values(random),
                "publisher": {"id": publisher, "name": f"Publisher {publisher}"}}

    @staticmethod
    def values(random):
        return {"summary": text(random, 60), "license": random.choice(["MIT", "BSD-3-Clause", "Apache-2.0"]),
                "size": random.randint(1_000, 5_000_000), "yanked": random.random() < 0.02,
                "published_at": date(random)}

    def changed(self, package, random):
        chance = random.random()
        if chance < 0.01:
            return None
        if chance > 0.99:
            package.update(yanked=not package["yanked"], size=package["size"] + 1)
        return package

    def touched(self, package, variant):
        return {**package, "size": 100 + variant, "summary": f"Summary {variant}"}

    def single(self, variant):
        return {"id": FAR, "name": f"Publisher {variant}", "packages": self.published(10, variant)}

    def children(self, variant):
        return self.published(100, variant)

    def published(self, count, variant):
        random = Random("published")
        packages = [{**self.key(FAR + i), **self.values(random)} for i in range(count)]
        for i in range(max(2, count // 10)):
            packages[i] = self.touched(packages[i], variant)
        for i in range(max(1, count // 50)):
            packages[-1 - i].update(self.key(FAR + (variant + 1) * 1000 + i))
        return packages


WORKLOADS = {"users": Users, "documents": Documents, "regions": Regions, "packages": Packages}

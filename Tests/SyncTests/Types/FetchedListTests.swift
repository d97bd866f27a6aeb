import Foundation
import GRDB
import Sync
import Testing

/// A type with an ordered and an unordered list, as `@Entity` generates it.
private struct Basket: EntityRecord {
    var id: Int
    var name: String
    var _items = RelatedRows<Item>()
    var syncFetchedRow = FetchedRow()
    var _labels = RelatedRows<Label>()
    var items: [Item] {
        get { _items.rows ?? [] }
        set { _items.rows = newValue }
    }
    var labels: [Label] {
        get { _labels.rows ?? [] }
        set { _labels.rows = newValue }
    }

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true), .init("name", String.self)],
            relationships: [
                .init("items", to: Item.self, many: true, ordered: true, inverse: "basket", deleteRule: .cascade),
                .init("labels", to: Label.self, many: true, inverse: "baskets"),
            ])
    }
    static var syncProperties: [PartialKeyPath<Basket>: SyncProperty] {
        [
            \.id: "id", \.name: "name", \.items: SyncProperty("items", to: Item.self),
            \.labels: SyncProperty("labels", to: Label.self),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
        row.setRelated("items", to: _items)
        row.setRelated("labels", to: _labels)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) {
        if relationship == "items" { _items.load(rows) } else { _labels.load(rows) }
    }
}

private struct Item: EntityRecord {
    var id: Int?
    var title: String
    var note: String?
    var basketID: Int?
    var syncFetchedRow = FetchedRow()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName,
            attributes: [
                .init("id", Int?.self, isKey: true), .init("title", String.self), .init("note", String?.self),
            ],
            relationships: [.init("basket", to: Basket.self, inverse: "items")])
    }
    static var syncProperties: [PartialKeyPath<Item>: SyncProperty] {
        [
            \.id: "id", \.title: "title", \.note: "note",
            \.basketID: SyncProperty("basket", to: Basket.self),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(title: String) { self.title = title }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        title = try row.value("title")
        note = try row.value("note")
        basketID = try row.value("basketID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("title", to: title)
        try row.set("note", to: note)
        row.setForeignKey("basket", to: basketID, in: "basketID")
    }
}

private struct Label: EntityRecord {
    var id: String
    var text: String
    var syncFetchedRow = FetchedRow()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", String.self, isKey: true), .init("text", String.self)],
            relationships: [.init("baskets", to: Basket.self, many: true, inverse: "labels")])
    }
    static var syncProperties: [PartialKeyPath<Label>: SyncProperty] { [\.id: "id", \.text: "text"] }
    typealias SyncKey = String
    var syncKey: String? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: String, text: String) { (self.id, self.text) = (id, text) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        text = try row.value("text")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("text", to: text)
    }
}

/// A type whose primary key is a date.
private struct Visit: EntityRecord {
    var id: Date
    var text: String
    var placeID: Int?
    var syncFetchedRow = FetchedRow()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, primaryKey: "id",
            attributes: [.init("id", Date.self, isKey: true), .init("text", String.self)],
            relationships: [.init("place", to: Venue.self, inverse: "visits")])
    }
    static var syncProperties: [PartialKeyPath<Visit>: SyncProperty] {
        [\.id: "id", \.text: "text", \.placeID: SyncProperty("place", to: Venue.self)]
    }
    typealias SyncKey = Date
    var syncKey: Date? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        text = try row.value("text")
        placeID = try row.value("placeID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("text", to: text)
        row.setForeignKey("place", to: placeID, in: "placeID")
    }
}

private struct Venue: EntityRecord {
    var id: Int
    var _visits = RelatedRows<Visit>()
    var syncFetchedRow = FetchedRow()
    var visits: [Visit] {
        get { _visits.rows ?? [] }
        set { _visits.rows = newValue }
    }

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true)],
            relationships: [.init("visits", to: Visit.self, many: true, inverse: "place")])
    }
    static var syncProperties: [PartialKeyPath<Venue>: SyncProperty] {
        [\.id: "id", \.visits: SyncProperty("visits", to: Visit.self)]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws { id = try row.value("id") }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        row.setRelated("visits", to: _visits)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { _visits.load(rows) }
}

@Suite("Lists of fetched values that others changed meanwhile")
struct FetchedListTests {
    private let stack: DataStack

    init() async throws {
        stack = try DataStack.inMemory(SyncModel(Basket.self, Item.self, Label.self))
        let json: JSONValue = [
            [
                "id": 1, "name": "n",
                "items": [["id": 1, "title": "a"], ["id": 2, "title": "b"], ["id": 3, "title": "c"]],
                "labels": [["id": "x", "text": "X"], ["id": "y", "text": "Y"]],
            ],
            ["id": 2, "name": "m"],
        ]
        try await Sync.changes(json, inEntity: "Basket", stack: stack)
    }

    private func basket() async throws -> Basket {
        try #require(try await stack.fetch(Basket.self, id: 1, including: \.items, \.labels))
    }

    /// The titles of the items in order, and the texts of the labels.
    private func contents() async throws -> String {
        let basket = try await basket()
        return basket.items.map(\.title).joined(separator: " ") + " | "
            + basket.labels.map(\.text).sorted().joined(separator: " ")
    }

    private func update(_ id: JSONValue, _ values: JSONValue, _ entity: String = "Item") async throws {
        #expect(try await Sync.update(id: id, with: values, inEntity: entity, stack: stack) != nil)
    }

    @Test("An appended or changed row writes no other row of the list", arguments: [true, false])
    func writesChangedRowsOnly(replacesLists: Bool) async throws {
        var held = try await basket()
        try await update(1, ["title": "SERVER", "note": "new"])
        try await update("x", ["text": "SERVER"], "Label")
        held.items.append(Item(title: "d"))
        held.items[1].title = "B"
        held.labels.append(Label(id: "z", text: "Z"))
        let result =
            replacesLists
            ? try await Sync.changes([held], stack: stack) : try await stack.save(held)
        #expect(try await contents() == "SERVER B c d | SERVER Y Z")
        #expect(result["Item"].updated.map(\.key) == [.integer(2)])
        #expect(try await stack.fetch(Item.self, id: 1)?.note == "new")
    }

    @Test("A changed row keeps the other values that changed meanwhile")
    func writesChangedValuesOnly() async throws {
        var held = try await basket()
        try await update(2, ["note": "new"])
        held.items[1].title = "B"
        try await stack.save(held)
        let item = try await stack.fetch(Item.self, id: 2)
        #expect(item?.title == "B" && item?.note == "new")
    }

    @Test("A row that was deleted or moved meanwhile stays so, and an added row stays", arguments: [true, false])
    func keepsOtherChanges(replacesLists: Bool) async throws {
        var held = try await basket()
        try await Sync.delete(id: 1, inEntity: "Item", stack: stack)
        try await update(2, ["basket_id": 2])
        try await Sync.insertOrUpdate(["id": 9, "title": "i", "basket_id": 1], inEntity: "Item", stack: stack)
        try await update(1, ["label_ids": ["y", "w"], "labels": [["id": "y"], ["id": "w", "text": "W"]]], "Basket")
        held.items.append(Item(title: "d"))
        held.labels.append(Label(id: "z", text: "Z"))
        if replacesLists {
            try await Sync.changes([held], stack: stack)
        } else {
            try await stack.save(held)
        }
        let found = try await contents()
        #expect(Set(found.split(separator: " ")) == ["c", "d", "i", "|", "W", "Y", "Z"], "\(found)")
        #expect(try await stack.fetch(Item.self, id: 2)?.basketID == 2)
        #expect(try await stack.count(Item.self) == 4)
    }

    @Test("A removed row keeps its place with save, and loses its link with a sync")
    func removesRows() async throws {
        var held = try await basket()
        held.items.removeFirst()
        held.labels.removeAll { $0.id == "x" }
        try await stack.save(held)
        #expect(try await contents() == "a b c | X Y")
        try await update(2, ["title": "SERVER"])
        try await Sync.changes([held], stack: stack)
        #expect(try await contents() == "SERVER c | Y")
    }

    @Test("A moved row moves, and an inserted row comes after the row before it")
    func ordersRows() async throws {
        var held = try await basket()
        held.items.swapAt(0, 2)
        try await stack.save(held)
        #expect(try await contents() == "c b a | X Y")
        held = try await basket()
        held.items.insert(Item(title: "d"), at: 1)
        held.items.insert(Item(title: "0"), at: 0)
        try await stack.save(held)
        #expect(try await contents() == "0 c d b a | X Y")
    }

    @Test("Rows that are added to a list that was not loaded come last, and delete nothing", arguments: [true, false])
    func addsToUnloadedList(replacesLists: Bool) async throws {
        var held = try #require(try await stack.fetch(Basket.self, id: 1))
        held.items.append(Item(title: "d"))
        held.labels.append(Label(id: "z", text: "Z"))
        if replacesLists {
            try await Sync.changes([held], stack: stack)
        } else {
            try await stack.save(held)
        }
        #expect(try await contents() == "a b c d | X Y Z")
    }

    @Test("An update changes loaded lists, and adds to others")
    func updatesLists() async throws {
        try await stack.update(Basket.self, id: 1, including: \.items, \.labels) { basket in
            basket.items.swapAt(0, 1)
            basket.items.removeLast()
            basket.labels.removeAll { $0.id == "x" }
        }
        #expect(try await contents() == "b a | Y")
        #expect(try await stack.count(Item.self) == 2)
        #expect(try await stack.count(Label.self) == 2)
        try await stack.update(Basket.self, id: 1) { $0.items.append(Item(title: "d")) }
        #expect(try await contents() == "b a d | Y")
    }

    @Test("A list that is not loaded cannot be set to an empty list")
    func clearsUnloadedList() async throws {
        let error = await #expect(throws: SyncError.self) {
            try await stack.update(Basket.self, id: 1) { basket in
                basket.name = "z"
                basket.labels = []
            }
        }
        #expect(error?.code == .invalidOption && error?.path == "labels" && error?.entity == "Basket")
        #expect(try await stack.fetch(Basket.self, id: 1)?.name == "n")
        try await stack.update(Basket.self, id: 2) { $0.labels = [] }
        try await stack.update(Basket.self, id: 1, including: \.labels) { $0.labels = [] }
        #expect(try await contents() == "a b c | ")
    }

    @Test("A fetched value that was deleted meanwhile is saved with its whole lists")
    func savesDeletedValue() async throws {
        var held = try await basket()
        try await Sync.delete(id: 1, inEntity: "Basket", stack: stack)
        #expect(try await stack.count(Item.self) == 0)
        held.items.append(Item(title: "d"))
        try await stack.save(held)
        #expect(try await contents() == "a b c d | X Y")
        try await Sync.delete(id: 1, inEntity: "Basket", stack: stack)
        held.labels.append(Label(id: "z", text: "Z"))
        try await stack.save(held)
        #expect(try await contents() == "a b c d | X Y Z")
    }

    @Test("Rows with dates as keys are found in the stored list")
    func dateKeys() async throws {
        let stack = try DataStack.inMemory(SyncModel(Venue.self, Visit.self))
        let json: JSONValue = [
            [
                "id": 1,
                "visits": [
                    ["id": "2024-02-29T18:29:59Z", "text": "a"], ["id": "2024-02-29T18:29:59.250Z", "text": "b"],
                    ["id": "2024-03-01", "text": "c"],
                ],
            ]
        ]
        try await Sync.changes(json, inEntity: "Venue", stack: stack)
        var held = try #require(try await stack.fetch(Venue.self, id: 1, including: \.visits))
        held.visits.removeAll { $0.text == "b" }
        held.visits[0].text = "A"
        let result = try await Sync.changes([held], stack: stack)
        #expect(result["Visit"].deletedCount == 1 && result["Visit"].updatedCount == 1)
        #expect(try await stack.fetch(Visit.self).map(\.text) == ["A", "c"])
        #expect(try await stack.fetch(Visit.self).map(\.placeID) == [1, 1])
    }

    @Test("Rows with temporary keys keep their places")
    func temporaryKeys() async throws {
        var held = try await basket()
        held.items.insert(Item(title: "t"), at: 1)
        try await stack.save(held)
        #expect(try await contents() == "a t b c | X Y")
        var second = try #require(try await stack.fetch(Basket.self, id: 1))
        second.items.append(Item(title: "u"))
        try await stack.save(second)
        #expect(try await contents() == "a t b c u | X Y")
        #expect(try await stack.count(Item.self) == 5)
    }
}

import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

/// A type whose copies each know what was saved, as `@Entity` generates it.
private struct Recipe: EntityRecord, Equatable {
    var id: Int? { didSet { syncFetchedRow.recordEdit() } }
    var title: String { didSet { syncFetchedRow.recordEdit() } }
    var isDone = false { didSet { syncFetchedRow.recordEdit() } }
    var _steps = RelatedRows<Step>()
    var syncFetchedRow = FetchedRow(tracksEdits: true)
    var steps: [Step] {
        get { _steps.rows ?? [] }
        set {
            _steps.rows = newValue
            syncFetchedRow.recordEdit()
        }
    }

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName,
            attributes: [
                .init("id", Int?.self, isKey: true), .init("title", String.self),
                .init("isDone", Bool.self, default: false),
            ],
            relationships: [
                .init("steps", to: Step.self, many: true, inverse: "recipe", deleteRule: .cascade)
            ])
    }
    static var syncProperties: [PartialKeyPath<Recipe>: SyncProperty] {
        [\.id: "id", \.title: "title", \.isDone: "isDone", \.steps: SyncProperty("steps", to: Step.self)]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int? = nil, title: String, steps: [Step]? = nil) {
        (self.id, self.title) = (id, title)
        _steps = RelatedRows(steps)
    }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        title = try row.value("title")
        isDone = try row.value("isDone")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("title", to: title)
        try row.set("isDone", to: isDone)
        row.setRelated("steps", to: _steps)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { _steps.load(rows) }
}

private struct Step: EntityRecord, Equatable {
    var id: Int? { didSet { syncFetchedRow.recordEdit() } }
    var text: String { didSet { syncFetchedRow.recordEdit() } }
    var recipeID: Int? { didSet { syncFetchedRow.recordEdit() } }
    var syncFetchedRow = FetchedRow(tracksEdits: true)

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int?.self, isKey: true), .init("text", String.self)],
            relationships: [.init("recipe", to: Recipe.self, inverse: "steps")])
    }
    static var syncProperties: [PartialKeyPath<Step>: SyncProperty] {
        [\.id: "id", \.text: "text", \.recipeID: SyncProperty("recipe", to: Recipe.self)]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(text: String) { self.text = text }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        text = try row.value("text")
        recipeID = try row.value("recipeID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("text", to: text)
        row.setForeignKey("recipe", to: recipeID, in: "recipeID")
    }
}

/// Values whose types record their edits: each copy is saved by what was changed in it.
@Suite("Saves of values that track their edits")
struct TrackedEditTests {
    private static func stack() async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(Recipe.self, Step.self))
        let json = """
            [{"id": 1, "title": "soup", "steps": [{"id": 10, "text": "cut"}, {"id": 11, "text": "boil"}]},
             {"id": 2, "title": "cake", "steps": [{"id": 20, "text": "mix"}]}]
            """
        try await Sync.changes(Data(json.utf8), as: Recipe.self, stack: stack)
        return stack
    }

    private static func rows(_ stack: DataStack) async throws -> [String] {
        try await stack.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT r.title || ' ' || r.isDone || coalesce(
                      (SELECT ': ' || group_concat(text) FROM (
                        SELECT text, recipeID FROM Step ORDER BY text) WHERE recipeID = r.id), '')
                    FROM Recipe r ORDER BY r.title
                    """)
        }
    }

    private static let before = ["cake 0: mix", "soup 0: boil,cut"]

    @Test("After a copy of an element was saved, a save of the array keeps what was saved")
    func arrayAfterCopy() async throws {
        let stack = try await Self.stack()
        var list = try await stack.fetch(Recipe.self, orderedBy: \.id, including: \.steps)
        var one = list[0]
        one.title = "stew"
        one.steps[1].text = "simmer"
        try await stack.save(one)
        #expect(try await stack.save(list).isEmpty)
        #expect(try await Self.rows(stack) == ["cake 0: mix", "stew 0: cut,simmer"])

        list[0].isDone = true
        list[1].title = "pie"
        try await stack.save(list)
        #expect(try await Self.rows(stack) == ["pie 0: mix", "stew 1: cut,simmer"])
        one.title = "broth"
        try await stack.save(one)
        #expect(try await Self.rows(stack) == ["broth 1: cut,simmer", "pie 0: mix"])
    }

    @Test("A value that is set back after a save is saved")
    func setBack() async throws {
        let stack = try await Self.stack()
        var list = try await stack.fetch(Recipe.self, orderedBy: \.id)
        for isDone in [true, false, true, false] {
            list[0].isDone = isDone
            try await stack.save(list[0])
            #expect(try await Self.rows(stack)[1] == "soup \(isDone ? 1 : 0): boil,cut")
            list[1].isDone = isDone
            try await stack.save(list)
            #expect(try await Self.rows(stack)[0] == "cake \(isDone ? 1 : 0): mix")
        }
        #expect(try await Self.rows(stack) == Self.before)
    }

    @Test("A new value without a key is one row, however often it is edited and saved")
    func newValue() async throws {
        let stack = try await Self.stack()
        var form = Recipe(title: "tea", steps: [Step(text: "heat")])
        try await stack.save(form)
        form.title = "mint tea"
        form.steps.append(Step(text: "steep"))
        try await stack.save(form)
        form.steps[0].text = "heat water"
        form.steps[1].text = "steep long"
        #expect(try await stack.save(form)[Step.self].updated.count == 2)
        #expect(try await stack.save(form).isEmpty)
        #expect(try await Self.rows(stack) == ["cake 0: mix", "mint tea 0: heat water,steep long", "soup 0: boil,cut"])
        try await Sync.changes([form], stack: stack, options: SyncOptions(payloadKind: .snapshot))
        #expect(try await Self.rows(stack) == ["mint tea 0: heat water,steep long"])
        try await stack.delete(form)
        #expect(try await Self.rows(stack) == [])
        try await stack.save(form)
        #expect(try await Self.rows(stack).count == 1)
    }

    @Test("A row that a form appends to a fetched list is one row, also if it is saved during an edit")
    func appended() async throws {
        let stack = try await Self.stack()
        var recipe = try #require(try await stack.fetch(Recipe.self, id: 2, including: \.steps))
        recipe.steps.append(Step(text: "bake"))
        let sent = recipe
        recipe.steps[1].text = "bake slowly"
        try await stack.save(sent)
        #expect(try await Self.rows(stack)[0] == "cake 0: bake,mix")
        try await stack.save(recipe)
        #expect(try await Self.rows(stack)[0] == "cake 0: bake slowly,mix")
        recipe.steps.remove(at: 0)
        try await Sync.changes([recipe], stack: stack)
        #expect(try await Self.rows(stack)[0] == "cake 0: bake slowly")
        try await stack.delete(recipe.steps[0])
        #expect(try await Self.rows(stack)[0] == "cake 0")
    }

    @Test("Rows that are made of one template are different rows")
    func template() async throws {
        let stack = try await Self.stack()
        let template = Recipe(title: "t")
        var recipes = [template, template]
        var third = template
        third.title = "third"
        recipes.append(third)
        try await stack.save(recipes)
        #expect(try await Self.rows(stack).count == 5)
        for number in 1...2 {
            var copy = template
            copy.title = "copy \(number)"
            try await stack.insert(copy)
        }
        try await stack.insert(template)
        try await stack.insert(template)
        #expect(try await Self.rows(stack).count == 9)
    }

    @Test("A row whose insert was rolled back is inserted by the next save")
    func rolledBack() async throws {
        struct Failure: Error {}
        let stack = try await Self.stack()
        var recipe = Recipe(title: "tea", steps: [Step(text: "heat")])
        let sent = recipe
        await #expect(throws: Failure.self) {
            try await stack.write { db in
                try stack.save([sent], in: db)
                throw Failure()
            }
        }
        #expect(try await Self.rows(stack) == Self.before)
        try await stack.save(sent)
        recipe.title = "mint tea"
        try await stack.save(recipe)
        #expect(try await Self.rows(stack) == ["cake 0: mix", "mint tea 0: heat", "soup 0: boil,cut"])
    }

    @Test("A value is the same row after an engine replaced its temporary key")
    func replacedKey() async throws {
        let stack = try DataStack.inMemory(SyncModel(Recipe.self, Step.self))
        let service = InMemoryService()
        let engine = try SyncEngine(stack: stack, service: service, entities: [Recipe.self, Step.self])
        var form = Recipe(title: "tea", steps: [Step(text: "heat")])
        try await stack.save(form)
        try await engine.sync()
        form.title = "mint tea"
        form.steps[0].text = "heat water"
        form.steps.append(Step(text: "steep"))
        try await stack.save(form)
        try await engine.sync()
        #expect(try await Self.rows(stack) == ["mint tea 0: heat water,steep"])
        #expect(await service.contents(of: "Recipe").values.map { $0["title"] } == ["mint tea"])
        #expect(await service.contents(of: "Step").count == 2)
        form.steps.remove(at: 0)
        try await Sync.changes([form], stack: stack)
        try await engine.sync()
        #expect(await service.contents(of: "Step").values.map { $0["text"] } == ["steep"])
    }

    @Test("A long chain of copies, each edited after the last, is saved and released")
    func chain() async throws {
        let stack = try await Self.stack()
        var recipe = Recipe(title: "")
        var copies: [Recipe] = []
        for number in 0..<200_000 {
            recipe.title = "\(number)"
            copies.append(recipe)
        }
        try await stack.save(Array(copies.suffix(2)))
        copies.removeAll()
        #expect(try await Self.rows(stack).count == 4)
        try await stack.save(recipe)
        #expect(try await Self.rows(stack).count == 4)
    }
}

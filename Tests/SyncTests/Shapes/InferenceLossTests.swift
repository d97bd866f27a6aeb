import Foundation
import Sync
import SyncTools
import TestSize
import Testing

@Suite("Imports with an inferred model")
struct InferenceLossTests {
    @Test(
        "An import with an inferred model is exported again, or validation reports a loss",
        arguments: RandomTest.shapes.range)
    func importIsExportedAgain(_ seed: Int) async throws {
        var payload = RandomShapes(seed: UInt64(seed))
        payload.make()
        let inferred = try InferredModel(from: [payload.sample])
        let schema = String(decoding: inferred.model.schemaFile(), as: UTF8.self)
        #expect(try SyncModel(schemaData: inferred.model.schemaFile()) == inferred.model)
        let stack = try DataStack.inMemory(inferred.model)
        let losses: Bool
        if payload.sample.entities.isEmpty {
            let examination = try await Sync.validate(
                payload.sample.json, inEntity: "Root", stack: stack, options: payload.options)
            losses = examination.losesData
            try await Sync.changes(payload.sample.json, inEntity: "Root", stack: stack, options: payload.options)
        } else {
            losses = false
            try await Sync.changes(
                payload.sample.json, inEntities: payload.sample.entities, stack: stack, options: payload.options)
        }
        for (entity, values) in payload.records {
            let exported = try await stack.export(entity).map(\.withoutConnections)
            let lost = values.filter { value in !exported.contains { $0.says(value) } }
            let invented = exported.filter { record in !values.contains { $0.hasScalars(of: record) } }
            #expect(
                lost.isEmpty || losses,
                "\(payload.shape) \(lost.first?.oneLine ?? "")\n\(exported.map(\.oneLine))\n\(schema)")
            #expect(
                invented.isEmpty || losses || payload.shape == .resources,
                "\(payload.shape) \(invented.first?.oneLine ?? "")\n\(values.map(\.oneLine))\n\(schema)")
        }
    }

    @Test(
        "Objects with one ID and different types beside them stay apart",
        arguments: ["_type", "Type"])
    func typesBesideObjects(ending: String) async throws {
        let json = """
            [{"id": 1, "about\(ending)": "Post", "about": {"id": 7, "title": "t"}},
             {"id": 2, "about\(ending)": "Photo", "about": {"id": 7, "url": "u"}}]
            """
        let model = try InferredModel(from: [.init(Data(json.utf8), entity: "Comment")]).model
        let stack = try DataStack.inMemory(model)
        try await Sync.changes(Data(json.utf8), inEntity: "Comment", stack: stack)
        let rows = try await stack.export("Comment")
        #expect(rows.map { $0["about"]?["title"] } == [.string("t"), nil])
        #expect(rows.map { $0["about"]?["url"] } == [nil, .string("u")])
        // Objects of one type are rows of an entity.
        let same = json.replacing("Photo", with: "Post")
        let other = try InferredModel(from: [.init(Data(same.utf8), entity: "Comment")]).model
        #expect(other.entity(named: "Comment")?.relationships.map(\.name) == ["about"])
    }

    @Test("An author and a comment with one ID under one key stay apart")
    func typesInsideObjects() async throws {
        let json = Data(
            #"""
            [{"type": "articles", "id": "1", "attributes": {"title": "A"}, "relationships": {
               "author": {"data": {"type": "people", "id": "1"}}, "comment": {"data": {"type": "comments", "id": "1"}}}},
             {"type": "articles", "id": "2", "attributes": {"title": "B"}, "relationships": {
               "author": {"data": {"type": "people", "id": "1"}}, "comment": {"data": {"type": "comments", "id": "2"}}}}]
            """#.utf8)
        let model = try InferredModel(from: [InferenceSample(json, entity: "Article")]).model
        #expect(model.entity(named: "Data") != nil && model.entity(named: "CommentData") != nil)
        let stack = try DataStack.inMemory(model)
        try await Sync.changes(json, inEntity: "Article", stack: stack)
        let exported = try await stack.export("Article", where: "id == '1'")[0]
        #expect(exported["relationships"]?["author"]?["data"]?["type"] == "people")
        #expect(exported["relationships"]?["comment"]?["data"]?["type"] == "comments")
    }

    @Test("Objects with one ID and different values under one key are stored as JSON")
    func inconsistentObjectsAreJSON() async throws {
        let json = Data(
            #"[{"id": 1, "on": {"id": 1, "type": "a"}}, {"id": 2, "on": {"id": 1, "type": "b"}}]"#.utf8)
        let model = try SyncModel(inferredFrom: json, entity: "Event")
        #expect(model.entities.map(\.name) == ["Event"])
        let stack = try DataStack.inMemory(model)
        try await Sync.changes(json, inEntity: "Event", stack: stack)
        let exported = try await stack.export("Event")
        #expect(exported.map { $0["on"]?["type"] } == ["a", "b"])
    }

    @Test("A key with null samples only keeps any value, and gets its type from the first one")
    func openTypeIsKept() async throws {
        let first = Data(#"[{"id": 1, "size": null}]"#.utf8)
        let next = Data(#"[{"id": 1, "size": 5}]"#.utf8)
        let model = try SyncModel(schemaData: SyncModel(inferredFrom: first, entity: "Box").schemaFile())
        let stack = try DataStack.inMemory(model)
        try await Sync.changes(next, inEntity: "Box", stack: stack)
        #expect(try await stack.export("Box")[0]["size"] == 5)
        let found = try ModelEvolution(of: model, by: [InferenceSample(next, entity: "Box")])
        #expect(found.notes.map(\.description) == ["Box.size: integer, previously only null"])
        #expect(found.model.entity(named: "Box")?.attributes.last == SyncModel.Attribute("size", .integer))
        let evolved = try stack.copy(with: found.model, migration: .keepingData)
        #expect(try await evolved.export("Box")[0]["size"] == 5)
    }
}

extension JSONValue {
    /// Whether the value has everything that another value has. Null, empty lists and missing keys are equal, and lists
    /// have no order.
    fileprivate func says(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (_, .null), (_, .array([])): true
        case (.object, .object(let members)): members.allSatisfy { (self[$0.key] ?? .null).says($0.value) }
        case (.array(let elements), .array(let others)):
            others.allSatisfy { element in elements.contains { $0.says(element) } }
        case (.null, .object(let members)): members.allSatisfy { JSONValue.null.says($0.value) }
        default: isSameScalar(as: other)
        }
    }

    /// The value with a list in place of each connection. Attributes of type `json` keep connections.
    fileprivate var withoutConnections: JSONValue {
        switch self {
        case .object(let members) where members.count == 1 && members[0].key == "nodes":
            members[0].value.withoutConnections
        case .object(let members):
            .object(members.map { .init($0.key, $0.value.withoutConnections) })
        case .array(let elements): .array(elements.map(\.withoutConnections))
        default: self
        }
    }

    /// Numbers and texts under one key are stored as text, and integers beside fractions as doubles.
    private func isSameScalar(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let text), .number(let number)), (.number(let number), .string(let text)): text == number
        case (.number(let left), .number(let right)): Double(left) == Double(right)
        default: self == other
        }
    }

    /// Whether the value has each scalar of another value at the same place.
    fileprivate func hasScalars(of other: JSONValue) -> Bool {
        switch other {
        case .null: true
        case .object(let members):
            members.allSatisfy { member in
                guard let own = self[member.key] else { return member.value.isEmpty }
                return own.hasScalars(of: member.value)
            }
        case .array(let elements):
            elements.allSatisfy { element in
                guard case .array(let own) = self else { return false }
                return own.contains { $0.hasScalars(of: element) }
            }
        default: isSameScalar(as: other)
        }
    }

    /// Whether the value has no scalar.
    private var isEmpty: Bool {
        switch self {
        case .null: true
        case .array(let elements): elements.allSatisfy(\.isEmpty)
        case .object(let members): members.allSatisfy(\.value.isEmpty)
        default: false
        }
    }
}

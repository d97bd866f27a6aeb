import Foundation
import SyncCore
import SyncTools
import TestSize
import Testing

/// Samples of thousands of keys. Each test takes seconds at most; with quadratic work it would take minutes.
@Suite("Inference from many keys")
struct ManySamplesTests {
    /// The most keys that are inferred.
    private static let count = 2_000

    private func object(_ count: Int = count, _ member: (Int) -> String) -> String {
        "{\((0..<count).map(member).joined(separator: ", "))}"
    }

    private func inferred(_ text: String) throws -> InferredModel {
        try InferredModel(from: [InferenceSample(Data(text.utf8), entity: "User")])
    }

    @Test("Each of many keys becomes an attribute")
    func infersManyAttributes() throws {
        let found = try inferred(object { $0 == 0 ? "\"id\": 1" : "\"some_key_\($0)\": \($0)" })
        #expect(found.model.entity(named: "User")?.attributes.count == Self.count)
        #expect(found.notes.count == Self.count + 1)
    }

    @Test("More keys or entities than the limit are rejected")
    func limitsKeysAndEntities() throws {
        for member in [{ "\"k\($0)\": \($0)" }, { "\"k\($0)\": {\"id\": \($0), \"v\($0)\": 1}" }] as [(Int) -> String] {
            let error = try #require(throws: SyncError.self) {
                try inferred(object(Self.count + 2) { $0 == 0 ? "\"id\": 1" : member($0) })
            }
            #expect(error.code == .invalidModel)
            #expect(error.message.contains(" 2000 "))
        }
        let records = (0...Self.count).map { "{\"id\": \($0), \"k\($0)\": [{\"id\": 1, \"v\($0)\": 1}]}" }
        let model = try SyncModel(entities: [
            SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer)])
        ])
        let error = try #require(throws: SyncError.self) {
            try ModelEvolution(
                of: model, by: [InferenceSample(Data("[\(records.joined(separator: ","))]".utf8), entity: "User")])
        }
        #expect(error.code == .invalidModel)
    }

    @Test("Keys without letters become attributes with unique names")
    func namesKeysWithoutLetters() throws {
        let found = try inferred(
            object {
                $0 == 0
                    ? "\"id\": 1"
                    : "\"\(String(repeating: "!", count: $0 % 70))?\($0 / 70 == 0 ? "" : String(repeating: "-", count: $0 / 70))\": 1"
            })
        let names = try #require(found.model.entity(named: "User")).attributes.map(\.name)
        #expect(names.count == Self.count && Set(names).count == Self.count)
    }

    @Test("Keys that are data become keyed records or a json attribute, and are rejected at the root")
    func detectsKeysThatAreData() throws {
        let cities = object { "\"\($0)\": {\"name\": \"a\", \"size\": \($0)}" }
        #expect(throws: SyncError.self) { try inferred(cities) }
        let nested = try inferred("[{\"id\": 1, \"cities\": \(cities)}]")
        #expect(nested.model.entities.map(\.name).sorted() == ["City", "User"])
        #expect(nested.model.entity(named: "User")?.relationships.first?.keyedBy == "key")
        let mixed = object { "\"\($0)\": {\"a\($0 % 2)\": \"a\", \"size\": \($0)}" }
        let deep = try inferred("[{\"id\": 1, \"home\": {\"id\": 2, \"cities\": \(mixed)}}]")
        #expect(deep.model.entity(named: "Home")?.attributes.last?.type == .json)
    }

    @Test("Thousands of equal objects are one entity, and different ones are separate")
    func mergesManyEqualObjects() throws {
        let count = LongTests.count(200, many: 2000)
        let same = try inferred(object(count) { $0 == 0 ? "\"id\": 1" : "\"p\($0)a\": {\"id\": 7, \"name\": \"Ann\"}" })
        #expect(same.model.entities.map(\.name) == ["P1a", "User"])
        #expect(same.model.entity(named: "User")?.relationships.count == count - 1)
        let others = try inferred(
            object(count) { $0 == 0 ? "\"id\": 1" : "\"p\($0)a\": {\"id\": 7, \"name\": \"\($0)\"}" })
        #expect(others.model.entities.count == count)
    }

    @Test("Many lists with keys for IDs beside them become one relationship each")
    func infersManyRelationships() throws {
        let count = LongTests.count(200, many: 900)
        let found = try inferred(
            object(2 * count) {
                switch $0 {
                case 0: "\"id\": 1"
                case 1...count: "\"list\($0)\": [{\"id\": \($0)}]"
                default: "\"list\($0 - count)_id\": 1"
                }
            })
        #expect(found.model.entity(named: "User")?.relationships.count == count)
    }

    @Test("Many attributes of a model are widened")
    func widensManyAttributes() throws {
        let count = LongTests.count(500, many: Self.count)
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [SyncModel.Attribute("id", .integer)]
                    + (0..<count).map { SyncModel.Attribute("some\($0)", .integer) })
        ])
        let sample = object(count) { $0 == 0 ? "\"id\": 1" : "\"some\($0)\": 1.5" }
        let found = try ModelEvolution(of: model, by: [InferenceSample(Data(sample.utf8), entity: "User")])
        #expect(found.notes.count == count - 1)
        #expect(found.notes.count { $0.message == "double, was integer" } == count - 1)
    }

    @Test("A sample of limited size has the whole records in its first bytes")
    func limitsSampleSize() throws {
        func keys(_ size: Int?, _ text: String, _ form: PayloadFormat = .json) throws -> [String]? {
            let sample = InferenceSample(Data(text.utf8), entity: "User", form: form, size: size)
            return try InferredModel(from: [sample]).model.entity(named: "User")?.attributes.map(\.name)
        }
        let text = #"[{"id": 1, "a": 1}, {"id": 2, "b": 1}, {"id": 3, "c": 1} what follows is not read"#
        #expect(try keys(45, text) == ["id", "a", "b"])
        #expect(try keys(20, text) == ["id", "a"])
        #expect(throws: SyncError.self) { try keys(10, text) }
        #expect(throws: SyncError.self) { try keys(nil, text) }
        #expect(try keys(30, "{\"id\": 1, \"a\": 1}\n{\"id\": 2, \"b\": 1}\n", .ndjson) == ["id", "a"])
        #expect(try keys(1000, #"[{"id": 1, "a": 1}]"#) == ["id", "a"])
    }
}

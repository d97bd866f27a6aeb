import Foundation
import Sync
import SyncTools

/// A payload of random kinds of records in a random shape. All occurrences of a record are equal. There are few IDs and
/// few keys, so that different records share both.
struct RandomShapes {
    /// The layout of the records.
    enum Shape: CaseIterable {
        case array, lines, lists, resources, connections, keyed, composite, kinds
    }

    private enum Field {
        case text, number, fraction, flag, texts, null
        case thing(Int), things(Int), wrapped(Int)
        case part, parts, named
    }

    private struct Kind {
        let name: String
        var fields: [(key: String, field: Field)]
    }

    private static let keys = ["data", "item", "items", "owner", "info", "size", "label", "state", "members", "links"]

    private var state: UInt64
    private var kinds: [Kind] = []
    let shape: Shape

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        shape = Shape.allCases[Int(seed % UInt64(Shape.allCases.count))]
        for index in 0..<4 { kinds.append(Kind(name: ["person", "comment", "place", "thing"][index], fields: [])) }
        for index in kinds.indices { kinds[index].fields = fields(of: index) }
    }

    /// The text, and its records by entity.
    private(set) var text = ""
    private(set) var records: [(entity: String, values: [JSONValue])] = []
    private(set) var sample = InferenceSample(Data(), entity: "Root")
    private(set) var options = SyncOptions()

    mutating func make() {
        let things = (1...(2 + below(5))).map { thing(0, $0) }
        records = [("Root", things)]
        switch shape {
        case .array: text = JSONValue.array(things).oneLine
        case .lines:
            text = things.map(\.oneLine).joined(separator: "\n")
            options.format = .ndjson
        case .lists:
            let others = (1...3).map { thing(1, $0) }
            text = JSONValue.object([.init("things", .array(things)), .init("others", .array(others))]).oneLine
            records.append(("Other", others))
            sample.entities = ["things": "Root", "others": "Other"]
        case .resources: makeResources()
        case .connections:
            let nodes = things.map { JSONValue.object([.init("node", $0.connected)]) }
            text =
                JSONValue.object([
                    .init("data", .object([.init("all", .object([.init("edges", .array(nodes))]))]))
                ]).oneLine
            options.format = .graphQL
        case .keyed:
            let bare = things.map { $0.without("id") }
            text = JSONValue.object(bare.enumerated().map { .init("k\($0)", $1) }).oneLine
            options.keyedBy = "code"
            records = [("Root", bare.enumerated().map { .object([.init("code", .string("k\($0)"))] + $1.members) })]
        case .composite:
            let pairs = (0..<6).map { index in
                JSONValue.object(
                    [.init("first", JSONValue(index / 3)), .init("second", .string("s\(index % 3)"))]
                        + thing(0, index + 1).without("id").members)
            }
            text = JSONValue.array(pairs).oneLine
            records = [("Root", pairs)]
            sample.infersKey = true
        case .kinds:
            let mixed = (1...3).flatMap { id in
                (0..<2).map { kind in
                    JSONValue.object([.init("type", .string(kinds[kind].name))] + thing(kind, id).members)
                }
            }
            text = JSONValue.array(mixed).oneLine
            records = [("Root", mixed)]
        }
        sample.json = Data(text.utf8)
        sample.form = options.format
        sample.keyedBy = options.keyedBy
    }

    private mutating func makeResources() {
        let kinds = ["articles", "people", "comments"]
        let all = kinds.map { kind in
            (1...3).map { (id: Int) -> (JSONValue, JSONValue) in
                let attributes: [JSONValue.Member] = [
                    .init("name", .string("\(kind) \(id)")), .init("\(kind)Size", JSONValue(id)),
                ]
                var linked: [JSONValue.Member] = []
                if kind == "articles" {
                    linked = [
                        .init(
                            "author",
                            .object([
                                .init(
                                    "data", .object([.init("type", "people"), .init("id", .string("\(1 + below(3))"))]))
                            ])),
                        .init(
                            "comments",
                            .object([
                                .init(
                                    "data",
                                    .array([.object([.init("type", "comments"), .init("id", .string("\(id)"))])]))
                            ])),
                    ]
                }
                let plain = JSONValue.object([.init("id", .string("\(id)"))] + attributes)
                let resource = JSONValue.object([
                    .init("type", .string(kind)), .init("id", .string("\(id)")),
                    .init("attributes", .object(attributes)), .init("relationships", .object(linked)),
                ])
                return (plain, resource)
            }
        }
        text =
            JSONValue.object([
                .init("included", .array((all[1] + all[2]).map { $0.1 })), .init("data", .array(all[0].map { $0.1 })),
            ]).oneLine
        records = zip(["Root", "Person", "Comment"], all).map { ($0, $1.map { $0.0 }) }
        options.format = .jsonAPI
    }

    // MARK: Records

    private mutating func fields(of kind: Int) -> [(key: String, field: Field)] {
        var keys = Set<String>()
        return (0..<(2 + below(4))).compactMap { _ in
            let key = Self.keys[below(Self.keys.count)]
            guard keys.insert(key).inserted else { return nil }
            let later = kind + 1 < kinds.count ? kind + 1 + below(kinds.count - kind - 1) : nil
            let simple: [Field] = [.text, .number, .fraction, .flag, .texts, .null, .part, .parts, .named]
            guard let later, below(2) == 0 else { return (key, simple[below(simple.count)]) }
            return (key, [.thing(later), .things(later), .wrapped(later)][below(3)])
        }
    }

    /// Returns the record of a kind and an ID, always with the same values.
    private func thing(_ kind: Int, _ id: Int) -> JSONValue {
        let name = "\(kinds[kind].name) \(id)"
        var members: [JSONValue.Member] = [.init("id", JSONValue(id)), .init("name", .string(name))]
        for (place, field) in kinds[kind].fields.enumerated() {
            members.append(.init(field.key, value(field.field, name, id, place)))
        }
        return .object(members)
    }

    private func value(_ field: Field, _ name: String, _ id: Int, _ place: Int) -> JSONValue {
        let mix = id &* 7 &+ place &* 3
        return switch field {
        case .text: .string("\(name) \(place)")
        case .number: JSONValue(mix)
        case .fraction: .number("\(mix).5")
        case .flag: .bool(mix % 2 == 0)
        case .texts: .array((0..<mix % 3).map { .string("t\($0)") })
        case .null: .null
        case .thing(let kind): thing(kind, 1 + mix % 3)
        case .things(let kind): .array((0..<mix % 4).map { thing(kind, 1 + $0) })
        case .wrapped(let kind): .object([.init("data", thing(kind, 1 + mix % 3))])
        case .part: .object([.init("x", JSONValue(mix)), .init("y", .string(name))])
        case .parts: .array((0..<mix % 3).map { .object([.init("at", JSONValue($0)), .init("of", .string(name))]) })
        case .named:
            .object(
                (0...mix % 3).map { .init("n\($0)", .object([.init("v", JSONValue(mix)), .init("w", .string(name))])) }
            )
        }
    }

    private mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(truncatingIfNeeded: state >> 33) % limit
    }
}

extension JSONValue {
    var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }

    var oneLine: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    fileprivate func without(_ key: String) -> JSONValue { .object(members.filter { $0.key != key }) }

    /// The value with its lists of objects as connections.
    fileprivate var connected: JSONValue {
        switch self {
        case .object(let members): .object(members.map { .init($0.key, $0.value.connected) })
        case .array(let elements) where elements.allSatisfy({ !$0.members.isEmpty }) && !elements.isEmpty:
            .object([.init("nodes", .array(elements.map(\.connected)))])
        default: self
        }
    }
}

import Foundation
import SyncTesting
import Testing

@testable import SyncCore

@Suite("Operators for each attribute type")
struct PredicateTypeTests {
    /// A row in memory.
    private struct Row: PredicateRow {
        let values: [String: StoredValue]

        func predicateValue(of attribute: String) throws -> StoredValue { try #require(values[attribute]) }
        func predicateTargets(of relationship: String) throws -> [Row] { [] }
    }

    /// A value of each type, and literals that are equal, less and greater.
    static let values: [(AttributeType, StoredValue, same: String, less: String, more: String)] = [
        (.integer, .integer(7), "7", "6.5", "1e30"),
        (.double, .double(7.5), "7.5", "-1e300", "7.6"),
        (.decimal, .decimal(Decimal(string: "7.5") ?? 0), "7.50", "7.49", "10"),
        (.boolean, .boolean(true), "TRUE", "FALSE", "TRUE"),
        (.string, .string("b"), "'b'", "'B'", "'c'"),
        (
            .date, .date(Date(timeIntervalSince1970: 1)), "'1970-01-01T01:00:01+01:00'", "0",
            "'1970-01-01T00:00:01.001Z'"
        ),
        (
            .uuid, UUID(uuidString: "1B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11").map(StoredValue.uuid) ?? .null,
            "'1b6ae2f7-5e0b-4a55-8b46-3f8d3b7d0a11'", "'0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'",
            "'2B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'"
        ),
        (.url, .url("x:b"), "'x:b'", "'x:a'", "'x:c'"),
        (.binary, .binary(Data([1, 2, 3])), "'AQID'", "''", "'AQIE'"),
        (.json, .json(["a": 1]), "'{\"a\": 1.0}'", "'{}'", "'[]'"),
        (.transformable, .string("s"), "'s'", "'a'", "'z'"),
    ]

    private static let ordered: Set<AttributeType> = [
        .integer, .double, .decimal, .boolean, .string, .date, .uuid, .url,
    ]
    private static let texts: Set<AttributeType> = [.string, .url]

    private func holds(_ text: String, _ type: AttributeType, _ value: StoredValue) throws -> Bool {
        let model = try SyncModel(entities: [SyncModel.Entity("Thing", attributes: [SyncModel.Attribute("v", type)])])
        let entity = try model.compiled.entity(named: "Thing")
        return try RowPredicate(parsing: text).resolved(on: entity, in: model.compiled)
            .holds(for: Row(values: ["v": value]))
    }

    private func check(
        _ text: String, _ type: AttributeType, _ value: StoredValue, is expected: Bool, refused message: String?
    ) throws {
        guard let message else {
            #expect(try holds(text, type, value) == expected, "\(type): \(text)")
            #expect(try holds("NOT " + text, type, value) != expected, "\(type): NOT \(text)")
            return
        }
        let error = try #require(throws: SyncError.self, "\(type): \(text)") { try holds(text, type, value) }
        #expect(error.code == .invalidPredicate)
        #expect(error.line == 1 && error.column != nil)
        #expect(error.message.contains(message), "\(error.message)")
    }

    @Test("Equality is defined for every type, but transformable values compare with nil only", arguments: values)
    func equalityByType(type: AttributeType, value: StoredValue, same: String, less: String, more: String) throws {
        let refused = type == .transformable ? "only be compared with nil" : nil
        let less = type == .integer ? "6" : less
        try check("v == \(same)", type, value, is: true, refused: refused)
        try check("v == \(less)", type, value, is: false, refused: refused)
        try check("v != \(same)", type, value, is: false, refused: refused)
        try check("v != \(less)", type, .null, is: true, refused: refused)
        try check("v == \(same)", type, .null, is: false, refused: refused)
        try check("v IN {\(less), \(same)}", type, value, is: true, refused: refused)
        try check("v IN {\(less), \(same)}", type, .null, is: false, refused: refused)
        try check("v == nil", type, .null, is: true, refused: nil)
        try check("v == nil", type, value, is: false, refused: nil)
        try check("v != nil", type, value, is: true, refused: nil)
        if type != .transformable { try check("v IN {nil}", type, .null, is: true, refused: nil) }
    }

    @Test("Order comparisons need a type with an order", arguments: values)
    func orderByType(type: AttributeType, value: StoredValue, same: String, less: String, more: String) throws {
        let refused = Self.ordered.contains(type) ? nil : "is not ordered"
        let isTop = type == .boolean
        for (op, belowMore, atSame, aboveLess) in [
            ("<", !isTop, false, false), ("<=", true, true, false), (">", false, false, true),
            (">=", isTop, true, true),
        ] {
            try check("v \(op) \(more)", type, value, is: belowMore, refused: refused)
            try check("v \(op) \(same)", type, value, is: atSame, refused: refused)
            try check("v \(op) \(less)", type, value, is: aboveLess, refused: refused)
            try check("v \(op) \(same)", type, .null, is: false, refused: refused)
            try check("v \(op) nil", type, value, is: false, refused: refused)
        }
        try check("v BETWEEN {\(less), \(more)}", type, value, is: true, refused: refused)
        try check("v BETWEEN {\(less), \(less)}", type, value, is: false, refused: refused)
        try check("v BETWEEN {\(less), \(more)}", type, .null, is: false, refused: refused)
        try check("v BETWEEN {\(less), nil}", type, value, is: false, refused: refused)
    }

    @Test("Text operators need a text type", arguments: values)
    func textOperatorsByType(type: AttributeType, value: StoredValue, same: String, less: String, more: String) throws {
        for (op, text, folded) in [
            ("CONTAINS", "b", "B"), ("BEGINSWITH", type == .url ? "x" : "b", type == .url ? "X" : "B"),
            ("ENDSWITH", "b", "B"), ("LIKE", "*b", "*B"), ("MATCHES", ".*b", ".*B"),
        ] {
            let refused = Self.texts.contains(type) ? nil : "\(op) requires a string"
            try check("v \(op) '\(text)'", type, value, is: true, refused: refused)
            try check("v \(op) '\(folded)'", type, value, is: false, refused: refused)
            try check("v \(op)[c] '\(folded)'", type, value, is: true, refused: refused)
            try check("v \(op) '\(text)'", type, .null, is: false, refused: refused)
        }
        let refused = Self.texts.contains(type) ? nil : "[c] requires a string"
        try check("v ==[c] \(same.replacing("b", with: "B"))", type, value, is: true, refused: refused)
        try check("v IN[c] {\(same.replacing("b", with: "B"))}", type, value, is: true, refused: refused)
    }

    @Test("A literal of another type is rejected with its column")
    func rejectsOtherTypes() throws {
        let cases: [(AttributeType, String, Int)] = [
            (.integer, "v == 'x'", 6), (.integer, "v == 7.5", 6), (.integer, "v > 'x'", 5), (.double, "v == 'x'", 6),
            (.double, "v < '1e'", 5), (.decimal, "v == '1,5'", 6), (.boolean, "v == 2", 6), (.boolean, "v == 'on'", 6),
            (.date, "v == 'soon'", 6), (.date, "v == TRUE", 6),
            (.uuid, "v == 'x'", 6), (.uuid, "v == 1", 6), (.url, "v == 1", 6), (.binary, "v == '!'", 6),
            (.json, "v == '{'", 6), (.integer, "v IN {1, 'x'}", 6), (.date, "v BETWEEN {0, 'x'}", 11),
        ]
        for (type, text, column) in cases {
            let error = try #require(throws: SyncError.self, "\(type): \(text)") { try holds(text, type, .null) }
            #expect(
                error.message.hasPrefix("'v' is of type \(type.rawValue) and cannot be compared with "),
                "\(error.message)")
            #expect(error.column == column, "\(text)")
        }
    }
}

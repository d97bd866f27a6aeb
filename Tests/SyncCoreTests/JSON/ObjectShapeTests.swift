import Foundation
import SyncCore
import Testing

@Suite("Reused object shapes")
struct ObjectShapeTests {
    /// Returns the keys of the object in the order of the tape.
    private func keys(_ builder: JSONTapeBuilder) -> [String] {
        builder.bytes.withUnsafeBufferPointer { bytes in
            guard case .object(let members) = builder.tape.value(at: 0, in: bytes) else { return [] }
            return members.map(\.key)
        }
    }

    private func value(_ builder: JSONTapeBuilder) -> JSONValue {
        builder.bytes.withUnsafeBufferPointer { builder.tape.value(at: 0, in: $0) }
    }

    @Test("The order of members is independent of how a dictionary was filled")
    func memberOrderIsStable() throws {
        let names = (0..<24).map { "key \($0 * 7 % 24)" }
        var generator = SystemRandomNumberGenerator()
        var builder = JSONTapeBuilder()
        var orders: Set<[String]> = []
        for capacity in 0..<200 {
            var object: [String: Any] = [:]
            object.reserveCapacity(capacity * 5)
            for name in names.shuffled(using: &generator) { object[name] = name }
            orders.insert(Array(object.keys))
            try builder.read(any: object, path: "$")
            #expect(keys(builder) == names.sorted())
            var fresh = JSONTapeBuilder()
            try fresh.read(any: object, path: "$")
            #expect(value(fresh) == value(builder))
        }
        #expect(orders.count > 1, "the dictionaries have different orders")
    }

    @Test("Objects of one size with different keys keep their own keys")
    func objectsKeepTheirOwnKeys() throws {
        var builder = JSONTapeBuilder()
        for round in 0..<3 {
            for shape in 0..<20 {
                let object: [String: Any] = [
                    "id": round, "of \(shape)": shape,
                    "in": ["of \(19 - shape)": round, "id": [shape]] as [String: Any],
                ]
                try builder.read(any: object, path: "$")
                let expected: JSONValue = .object([
                    .init("id", JSONValue(round)),
                    .init(
                        "in",
                        .object([
                            .init("id", [JSONValue(shape)]), .init("of \(19 - shape)", JSONValue(round)),
                        ])),
                    .init("of \(shape)", JSONValue(shape)),
                ])
                #expect(value(builder) == expected)
            }
        }
    }

    @Test("A key that is canonically equivalent to an earlier key keeps its bytes")
    func equivalentKeysKeepBytes() throws {
        var builder = JSONTapeBuilder()
        for names in [["K", "\u{E9}"], ["\u{212A}", "e\u{301}"], ["K", "\u{E9}"], ["K", "e"], ["\u{212A}", "e"]] {
            try builder.read(any: [names[0]: 1, names[1]: 2] as [String: Any], path: "$")
            let found = keys(builder).map { Array($0.utf8) }
            #expect(Set(found) == Set(names.map { Array($0.utf8) }))
            #expect(value(builder)[names[0]] == 1)
            #expect(value(builder)[names[1]] == 2)
        }
    }

    @Test("The texts of known keys are stored once")
    func storesKeysOnce() throws {
        var builder = JSONTapeBuilder()
        try builder.read(any: ["name": 1, "other": true] as [String: Any], path: "$")
        let count = builder.bytes.count
        try builder.read(any: ["other": false, "name": 2] as [String: Any], path: "$")
        #expect(builder.bytes.count == count + 1)
    }
}

import Foundation
import MemoryStore
import Sync
import SyncCore
import Testing

@Suite("Conditions with values that a store cannot keep")
struct PredicateLimitTests {
    /// Notes whose texts, numbers and tags are around the values of the conditions.
    private static let notes = #"""
        [{"id": "a", "text": "p", "count": 1000, "ratio": 0.5, "price": 2.5, "day": "2000-01-01", "tags": [{"id": "p"}],
          "extra": {"m": "p", "n": 7}, "author": {"id": "p", "name": "p"}},
         {"id": "b", "text": "p\u0001", "count": 0, "tags": [{"id": "p\u0001"}, {"id": "q"}], "extra": {"m": "q"},
          "author": {"id": "q"}},
         {"id": "c", "text": "pz", "tags": []}, {"id": "d"}, {"id": "e", "text": "", "tags": [{"id": ""}]},
         {"id": "f", "text": "o", "count": -1000, "tags": [{"id": "p"}, {"id": "q"}]}]
        """#

    private func stacks() async throws -> (limited: MemoryStack, unlimited: MemoryStack) {
        let (limited, unlimited) = (try LimitedStore.stack(), try LimitedStore.stack(.unlimited))
        for stack in [limited, unlimited] {
            let result = try await Sync.changes(Data(Self.notes.utf8), inEntity: "Note", stack: stack)
            #expect(result.diagnostics.isEmpty)
        }
        return (limited, unlimited)
    }

    @Test("A condition selects the rows that it selects in a store without limits")
    func equivalence() async throws {
        let (limited, unlimited) = try await stacks()
        let paths = [
            "text", "author.id", "author.name", "author", "extra.m", "ANY tags", "ALL tags", "NONE tags", "ANY tags.id",
        ]
        let values = ["p\0q", "p\0", "\0", "\0p", "p", "1234567890123"]
        var count = 0
        for path in paths {
            for value in values {
                for op in ["==", "!=", "<", "<=", ">", ">=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "==[c]"] {
                    count += try await compare("\(path) \(op) %@", [value], limited, unlimited)
                    count += try await compare("NOT (\(path) \(op) %@)", [value], limited, unlimited)
                }
                for other in ["p", "q", "q\0", "p\0", "\0"] {
                    count += try await compare("\(path) BETWEEN {%@, %@}", [value, other], limited, unlimited)
                    count += try await compare("\(path) IN {%@, %@}", [value, other], limited, unlimited)
                    count += try await compare("\(path) IN {%@, nil}", [value], limited, unlimited)
                }
            }
        }
        // Some operators do not apply to lists and to members of JSON.
        #expect(count > 1500)
    }

    @Test("Numbers and dates beyond a range equal nothing")
    func ranges() async throws {
        let (limited, unlimited) = try await stacks()
        for condition in [
            "count == 1000", "count == 1001", "count != 1001", "count < 1001", "count > -1001", "count IN {1001, 0}",
            "count BETWEEN {-1001, 1001}", "ratio == 0.5", "ratio == 0.75", "ratio != 0.75", "ratio < 1",
            "price == 2.5", "price == 2.51", "price != 2.51", "price >= -100", "day == '2000-01-01'",
            "day == '1999-12-31'", "day != '1999-12-31'", "day > '1999-12-31'", "extra.n == 7", "extra.n == 7000",
            "tags.@count == 2", "tags.@count < 2000", "site != 'x'",
        ] {
            #expect(try await compare(condition, [], limited, unlimited) == 1, "\(condition)")
        }
        for op in ["==", "!="] {
            #expect(try await compare("extra \(op) %@", [#"{"m":"\u0000"}"#], limited, unlimited) == 1)
        }
    }

    /// Compares the rows that a condition selects in both stores.
    ///
    /// - Returns: 1; 0 for a condition that is invalid.
    private func compare(
        _ text: String, _ values: [String], _ limited: MemoryStack, _ unlimited: MemoryStack
    ) async throws -> Int {
        let condition: RowPredicate
        switch values.count {
        case 0: condition = .where(text)
        case 1: condition = .where(text, values[0])
        default: condition = .where(text, values[0], values[1])
        }
        let keys: [PrimaryKeyValue]
        do {
            keys = try await unlimited.fetch("Note", where: condition).map(\.key)
        } catch let error as SyncError where error.code == .invalidPredicate {
            return 0
        }
        let found = try await limited.fetch("Note", where: condition).map(\.key)
        #expect(found == keys, "\(text) \(values)")
        return 1
    }

    @Test("A resolved condition has no value that the store cannot keep")
    func constants() throws {
        let model = try LimitedStore.model().compiled
        let note = try model.entity(named: "Note")
        for (condition, expected) in [
            ("text == %@", false), ("author == %@", false), ("text BEGINSWITH %@", false), ("text != %@", true),
        ] {
            let resolved = try RowPredicate.where(condition, "\0")
                .resolved(on: note, in: model, keeping: LimitedStore.capabilities)
            switch resolved {
            case .constant(let value): #expect(value == expected)
            case .comparison(let comparison):
                guard case .never = comparison.test else { Issue.record("\(comparison.test)"); return }
                #expect(!expected)
            default: Issue.record("\(resolved)")
            }
        }
    }
}

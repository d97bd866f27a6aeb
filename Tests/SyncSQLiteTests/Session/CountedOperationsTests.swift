import Foundation
import GRDB
import MemoryStore
import SyncCore
import SyncStore
import Testing

@testable import SyncSQLite

/// The number of store operations of a sync, which does not grow with the number of rows.
@Suite("Number of store operations")
struct CountedOperationsTests {
    private static let limit = 60

    /// Owners with tags, a badge, and notes and keyless boxes, which are deleted with them. All lists are ordered.
    private static let schema = """
        { "entities": {
          "Owner": { "attributes": { "id": "integer", "name": "string" },
                     "relationships": {
                       "notes": { "entity": "Note", "many": true, "ordered": true, "inverse": "owner",
                                  "deleteRule": "cascade" },
                       "boxes": { "entity": "Box", "many": true, "ordered": true, "inverse": "owner",
                                  "deleteRule": "cascade" },
                       "tags": { "entity": "Tag", "many": true, "ordered": true, "inverse": "owners" },
                       "badge": { "entity": "Badge", "inverse": "owner", "deleteRule": "nullify" } } },
          "Note": { "attributes": { "id": "integer", "text": "string" },
                    "relationships": { "owner": { "entity": "Owner", "inverse": "notes" } } },
          "Box": { "attributes": { "size": "integer" },
                   "relationships": { "owner": { "entity": "Owner", "inverse": "boxes" } } },
          "Badge": { "attributes": { "id": "integer" },
                     "relationships": { "owner": { "entity": "Owner", "inverse": "badge" } } },
          "Tag": { "attributes": { "id": "string" },
                   "relationships": { "owners": { "entity": "Owner", "many": true, "inverse": "tags" } } } } }
        """

    private let stack: DataStack
    /// The numbers of rows with which each test runs.
    private static let sizes = [10, 1000]

    init() throws { stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8))) }

    /// Syncs a payload, and returns the store operations that the sync used.
    private func operations(
        _ json: String, of entity: String, options: SyncOptions = SyncOptions(deletionLimit: nil),
        predicate: RowPredicate? = nil, _ conditions: SessionConditions = SessionConditions()
    ) throws -> (names: [String], result: SyncResult) {
        let staging = try PayloadGraphBuilder(
            inEntity: entity, of: stack.model, parent: nil, operations: .all, options: options)
        let payload = try staging.map(Data(json.utf8), options: options)
        return try stack.write { db in
            let session = CheckedSession(
                SQLiteSession(try stack.watch.visit(db, isOwn: true), stack.layout), conditions)
            let request = SyncRequest(predicate: predicate, options: options)
            let result = try SyncSession(session, stack.model.compiled, request).apply(payload)
            return (conditions.operations, result)
        }
    }

    /// Syncs pages of one paged import, and returns the store operations of the last page.
    ///
    /// - Parameter ends: Whether to end the import, and to return the operations of its end.
    private func operations(
        ofLastOf pages: [String], of entity: String, in stack: DataStack, _ operations: SyncOperations = .all,
        rowFlagLimit: Int, ends: Bool = false
    ) throws -> [String] {
        let options = SyncOptions(payloadKind: .page(of: PagedImport()), deletionLimit: nil)
        func builder(_ options: SyncOptions) throws -> PayloadGraphBuilder {
            try PayloadGraphBuilder(
                inEntity: entity, of: stack.model, parent: nil, operations: operations, options: options)
        }
        var run: PagedImportState? = PagedImportState()
        var names: [String] = []
        for page in pages {
            let payload = try builder(options).map(Data(page.utf8), options: options)
            try run?.spillRowFlags(above: rowFlagLimit) { try TemporaryRowFlags() }
            names = try self.operations(payload, options, in: stack, run: &run)
        }
        guard ends else { return names }
        var last = options
        last.payloadKind = .snapshot
        run?.isEnding = true
        try run?.spillRowFlags(above: rowFlagLimit) { try TemporaryRowFlags() }
        return try self.operations(MappedPayload(builder(last).planWithoutRecords()), options, in: stack, run: &run)
    }

    /// Applies a page or the end of a paged import, and returns the store operations.
    private func operations(
        _ payload: MappedPayload, _ options: SyncOptions, in stack: DataStack, run: inout PagedImportState?
    ) throws -> [String] {
        try stack.write { db in
            let conditions = SessionConditions()
            let session = CheckedSession(
                SQLiteSession(try stack.watch.visit(db, isOwn: true), stack.layout), conditions)
            let sync = SyncSession(session, stack.model.compiled, SyncRequest(options: options))
            let result = try sync.apply(payload, run: &run)
            run?.changes.add(result)
            return conditions.operations
        }
    }

    private func list(_ ids: some Sequence<Int>, _ record: (Int) -> String) -> String {
        "[" + ids.map(record).joined(separator: ",") + "]"
    }

    private func owner(_ id: Int) -> String {
        """
        { "id": \(id), "name": "o\(id)", "notes": [{ "id": \(2 * id) }, { "id": \(2 * id + 1) }],
          "boxes": [{ "size": \(id) }, { "size": 2 }], "tag_ids": ["a", "b\(id % 7)"], "badge": { "id": \(id) } }
        """
    }

    private func fill(_ count: Int) throws {
        _ = try operations(
            #"[{"id":"a"},{"id":"b0"},{"id":"b1"},{"id":"b2"},{"id":"b3"},{"id":"b4"},{"id":"b5"},{"id":"b6"}]"#,
            of: "Tag")
        _ = try operations(list(1...count, owner), of: "Owner")
    }

    @Test("Importing rows, and importing them again, takes few operations for any number of rows", arguments: sizes)
    func importsRows(_ count: Int) throws {
        let first = try operations(list(1...count, owner), of: "Owner")
        #expect(first.result.entities["Note"]?.insertedCount == 2 * count)
        #expect(first.names.count <= Self.limit, "\(first.names)")
        let again = try operations(list(1...count, owner), of: "Owner")
        #expect(again.result.entities["Owner"]?.unchangedCount == count)
        #expect(again.names.count <= Self.limit, "\(again.names)")
    }

    @Test(
        "Deleting rows, with their owned rows and links, takes few operations for any number of rows",
        arguments: sizes, [false, true])
    func deletesRows(_ count: Int, collectsValues: Bool) throws {
        try fill(count)
        var options = SyncOptions(deletionLimit: nil)
        options.resultDetail = collectsValues ? .values : .keys
        let (names, result) = try operations("[]", of: "Owner", options: options)
        #expect(result.entities["Owner"]?.deletedCount == count)
        #expect(result.entities["Note"]?.deletedCount == 2 * count)
        #expect(result.entities["Box"]?.deletedCount == 2 * count)
        #expect(names.count <= Self.limit, "\(names)")
    }

    @Test("A sync that exceeds the deletion limit deletes nothing before it fails")
    func refusesBeforeDeleting() throws {
        try fill(20)
        let conditions = SessionConditions()
        let error = #expect(throws: SyncError.self) {
            try operations("[]", of: "Badge", options: SyncOptions(), conditions)
        }
        #expect(error?.code == .deletionLimitExceeded)
        #expect(conditions.operations.contains("count(of:upTo:)"))
        #expect(!conditions.operations.contains { $0.hasPrefix("delete(") }, "\(conditions.operations)")
    }

    @Test("Deleting rows in the scope of a condition takes few operations for any number of rows", arguments: sizes)
    func deletesRowsInScope(_ count: Int) throws {
        try fill(count)
        let predicate = try RowPredicate(parsing: "badge.id > 0")
        let (names, result) = try operations("[]", of: "Owner", predicate: predicate)
        #expect(result.entities["Owner"]?.deletedCount == count)
        #expect(names.count <= Self.limit, "\(names)")
    }

    @Test("The rows in the scope of a condition are read in sets", arguments: [10, 4096, 10_000])
    func readsScopeInSets(_ count: Int) throws {
        _ = try operations(list(1...count) { #"{"id":\#($0)}"# }, of: "Badge")
        let (names, result) = try operations("[]", of: "Badge", predicate: RowPredicate(parsing: "id > 0"))
        #expect(result.entities["Badge"]?.deletedCount == count)
        #expect(names.count { $0 == "rows(of:where:after:limit:)" } == 1 + count / 4096)
        #expect(names.count <= Self.limit, "\(names)")
    }

    @Test("Deleting and unlinking rows that lists omit takes few operations for any number of rows", arguments: sizes)
    func deletesOmittedRows(_ count: Int) throws {
        try fill(count)
        let json = list(1...count) {
            #"{ "id": \#($0), "notes": [{ "id": \#(2 * $0 + 1) }], "boxes": [], "tag_ids": ["a"], "badge": null }"#
        }
        let (names, result) = try operations(json, of: "Owner")
        #expect(result.entities["Note"]?.deletedCount == count)
        #expect(result.entities["Box"]?.deletedCount == 2 * count)
        #expect(names.count <= Self.limit, "\(names)")
    }

    @Test("Resolving pending references takes few operations for any number of rows", arguments: sizes, [false, true])
    func resolvesPendingReferences(_ count: Int, collectsValues: Bool) throws {
        var options = SyncOptions(deletionLimit: nil)
        options.resultDetail = collectsValues ? .values : .keys
        let owners = list(1...count) {
            #"{ "id": \#($0), "note_ids": [\#(2 * $0), \#(2 * $0 + 1)], "tag_ids": ["t\#($0)", "a"], "badge": \#($0) }"#
        }
        let first = try operations(owners, of: "Owner")
        #expect(first.result.pendingReferences.count == 5 * count)
        #expect(first.names.count <= Self.limit, "\(first.names)")
        let notes = try operations(list(2...(2 * count + 1)) { #"{"id":\#($0)}"# }, of: "Note", options: options)
        #expect(notes.result.linksAdded == 2 * count)
        #expect(notes.names.count <= Self.limit, "\(notes.names)")
        let tags = try operations(
            list(0...count) { #"{"id":"\#($0 == 0 ? "a" : "t\($0)")"}"# }, of: "Tag", options: options)
        #expect(tags.result.linksAdded == 2 * count)
        #expect(tags.names.count <= Self.limit, "\(tags.names)")
        let badges = try operations(list(1...count) { #"{"id":\#($0)}"# }, of: "Badge", options: options)
        #expect(badges.result.linksAdded == count)
        #expect(badges.names.count <= Self.limit, "\(badges.names)")
    }

    @Test("Reversing a long list takes few operations for any number of rows", arguments: sizes)
    func reversesLongList(_ count: Int) throws {
        let ids = (1...count).map { "\($0)" }
        _ = try operations(list(1...count) { #"{"id":\#($0)}"# }, of: "Note")
        _ = try operations(#"[{"id":1,"note_ids":[\#(ids.joined(separator: ","))]}]"#, of: "Owner")
        let turned = #"[{"id":1,"note_ids":[\#(ids.reversed().joined(separator: ","))]}]"#
        let (names, result) = try operations(turned, of: "Owner")
        #expect(names.count <= Self.limit, "\(names)")
        #expect(result.linksAdded == 0)
        let places = try stack.read { db in
            try Int.fetchOne(db, sql: "SELECT sync_owner_order FROM Note WHERE id = \(count)") ?? -1
        }
        #expect(places == 0)
    }

    @Test(
        "Reordering lists, and adding rows beside them, takes few operations for any number of rows",
        arguments: sizes)
    func reordersLists(_ count: Int) throws {
        try fill(count)
        let turned = list(1...count) {
            #"{ "id": \#($0), "note_ids": [\#(2 * $0 + 1), \#(2 * $0)], "tag_ids": ["b\#($0 % 7)", "a"] }"#
        }
        let (names, _) = try operations(turned, of: "Owner")
        #expect(names.count <= Self.limit, "\(names)")
        let beside = list(1...count) { #"{ "id": \#(10_000 + $0), "owner_id": \#($0) }"# }
        var keeping = SyncOptions(deletionLimit: nil)
        keeping.payloadKind = .delta
        let notes = try operations(beside, of: "Note", options: keeping)
        #expect(notes.result.linksAdded == count)
        #expect(notes.names.count <= Self.limit, "\(notes.names)")
    }

    @Test(
        "The end of a paged import reads the rows in sets, and matches none",
        arguments: [10, 4096, 10_000], [0, 32 << 20])
    func readsRowsAtEndInSets(_ count: Int, rowFlagLimit: Int) throws {
        _ = try operations(list(1...count) { #"{"id":\#($0)}"# }, of: "Badge")
        let names = try operations(
            ofLastOf: [#"[{"id":2}]"#], of: "Badge", in: stack, rowFlagLimit: rowFlagLimit, ends: true)
        #expect(names.count { $0 == "rows(of:where:after:limit:)" } == 1 + count / 4096)
        #expect(!names.contains { $0.hasPrefix("match") })
        #expect(names.count <= Self.limit, "\(names)")
        let left = try stack.read { db in try Int.fetchAll(db, sql: "SELECT id FROM Badge") }
        #expect(left == [2])
    }

    @Test(
        "A page whose row flags are not in memory takes few operations for any number of rows with surrogate keys",
        arguments: sizes)
    func readsFlagsOfSurrogateKeys(_ count: Int) throws {
        let schema = """
            { "entities": {
              "Media": { "abstract": true, "attributes": { "title": "string" } },
              "Film": { "parent": "Media", "attributes": { "code": "integer" }, "primaryKey": "code" },
              "Book": { "parent": "Media", "attributes": { "isbn": "string" }, "primaryKey": "isbn" } } }
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        let page = list(1...count) { #"{"code":\#($0),"title":"t"}"# }
        let names = try operations(
            ofLastOf: [page, page], of: "Film", in: stack, [.insert, .update], rowFlagLimit: 0)
        #expect(names.count <= Self.limit, "\(names.count): \(names.prefix(100))")
    }

    @Test(
        "A page that replaces references from before its import takes few operations for any number of rows",
        arguments: sizes)
    func revertsResolvedLinks(_ count: Int) throws {
        _ = try operations(list(1...count) { #"{"id":\#($0),"owner_id":\#(10_000 + $0)}"# }, of: "Note")
        // The first page has the missing owners. The second page references other missing owners.
        let first = list(1...count) { #"{"id":\#(20_000 + $0),"owner":{"id":\#(10_000 + $0)}}"# }
        let second = list(1...count) { #"{"id":\#($0),"owner_id":\#(30_000 + $0)}"# }
        let names = try operations(ofLastOf: [first, second], of: "Note", in: stack, rowFlagLimit: 32 << 20)
        #expect(names.count <= Self.limit, "\(names.count): \(names.prefix(100))")
        let linked = try stack.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM Note WHERE ownerID IS NOT NULL")
        }
        #expect(linked == count)
    }

    @Test("References of rows with composite keys to missing rows take few operations", arguments: sizes)
    func namesOwnersOfPendingReferences(_ count: Int) throws {
        let schema = """
            { "entities": {
              "Row": { "primaryKey": ["kind", "num"], "attributes": { "kind": "string", "num": "integer" },
                       "relationships": { "next": { "entity": "Row" } } } } }
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        let rows = list(1...count) { #"{"kind":"a","num":\#($0),"next":["b",\#($0)]}"# }
        let names = try operations(ofLastOf: [rows], of: "Row", in: stack, rowFlagLimit: 32 << 20)
        #expect(names.count <= Self.limit, "\(names.count): \(names.prefix(100))")
    }

    @Test(
        "Pages with two references of each row to missing rows, and with these rows, take few operations",
        arguments: sizes)
    func keepsReplacedReferences(_ count: Int) throws {
        // The second reference of a note replaces the first one. Only the row of the first one arrives.
        let first = list(1...count) {
            #"{"id":\#($0),"owner_id":\#(10_000 + $0)},{"id":\#($0),"owner_id":\#(20_000 + $0)}"#
        }
        let second = list(1...count) { #"{"id":\#(30_000 + $0),"owner":{"id":\#(10_000 + $0)}}"# }
        for pages in [[first], [first, second]] {
            let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
            let names = try operations(ofLastOf: pages, of: "Note", in: stack, rowFlagLimit: 32 << 20)
            #expect(names.count <= Self.limit, "\(names.count): \(names.prefix(100))")
            let linked = try stack.read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM Note WHERE ownerID IS NOT NULL")
            }
            #expect(linked == 2 * count * (pages.count - 1))
        }
    }
}

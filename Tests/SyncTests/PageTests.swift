import Foundation
import GRDB
import Sync
import TestSize
import Testing

@Suite("Paged imports")
struct PageTests {
    private func store() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return stack
    }

    private func records(_ day: String) throws -> [JSONValue] {
        guard case .array(let records) = try JSONValue(parsing: Fixtures.payload(day)) else { return [] }
        return records
    }

    /// Cuts a list into consecutive pages. Each bit of `cuts` stands for a cut after one record.
    private static func pages(of records: [JSONValue], cuts: Int) -> [[JSONValue]] {
        var pages: [[JSONValue]] = [[]]
        for (index, record) in records.enumerated() {
            if index > 0, cuts & (1 << (index - 1)) != 0 { pages.append([]) }
            pages[pages.count - 1].append(record)
        }
        return pages
    }

    /// Paged imports whose second page contradicts a link assertion of the first.
    static let inconsistentRecordCount: [(String, before: JSONValue, pages: [[JSONValue]], String)] = [
        (
            "Note", [["id": 1, "user": ["id": 3]]],
            [[["id": 1, "user_id": 2]], [["id": 2, "user": ["id": 2, "notes": [["id": 2]]]]]],
            "the awaited owner has a list without the row"
        ),
        (
            "Member", [["id": 1, "car": ["id": 3]]], [[["id": 1, "car_id": 2]], [["id": 2, "car": ["id": 2]]]],
            "another takes the awaited row"
        ),
        (
            "Member", [["id": 1, "car": ["id": 3]]],
            [[["id": 1, "car_id": 2]], [["id": 2, "car": ["id": 2, "driver": nil]]]],
            "the awaited row says that it is nobody's"
        ),
        (
            "Car", [["id": 3, "driver": ["id": 1]]],
            [[["id": 3, "driver_id": 2]], [["id": 4, "driver": ["id": 2, "car": ["id": 4]]]]],
            "the awaited row has another"
        ),
        (
            "Note", [["id": 1, "user": ["id": 3]]],
            [[["id": 1, "user_id": 2], ["id": 1, "user_id": 9]], [["id": 2, "user": ["id": 2]]]],
            "only the row of the earlier reference of a page arrives"
        ),
        (
            "Member", [["id": 1, "car": ["id": 3]]],
            [
                [["id": 1, "car_id": 2]], [["id": 1, "car_id": 9]],
                [["id": 6, "car": ["id": 7, "spare": ["id": 2]]]],
            ],
            "only the row of an earlier page's reference arrives"
        ),
        (
            "Member", [["id": 1, "car": ["id": 3]]],
            [
                [["id": 1, "car_id": 2], ["id": 1, "car_id": 9]], [["id": 6, "car": ["id": 7, "spare": ["id": 9]]]],
                [["id": 8, "car": ["id": 10, "spare": ["id": 2]]]],
            ],
            "the row of the later reference arrives first"
        ),
        (
            "Member", [["id": 1, "car": ["id": 3]]], [[["id": 1, "car_id": 2]], [["id": 5, "car_id": 2]]],
            "two rows reference a row that does not arrive"
        ),
        (
            "Member", [["id": 1, "car": ["id": 3]]],
            [
                [["id": 1, "car_id": 2]], [["id": 5, "car_id": 2]], [["id": 5, "car": ["id": 8]]],
                [["id": 6, "car": ["id": 7, "spare": ["id": 2]]]],
            ],
            "two rows reference the awaited row, and the second gets another"
        ),
        (
            "Member", [["id": 1, "car": ["id": 3]]],
            [[["id": 1, "car_id": 2]], [["id": 5, "car": ["id": 7, "spare": ["id": 2, "driver_id": 9]]]]],
            "the awaited row references a row that does not arrive"
        ),
        (
            "User", [["id": 1, "notes": [["id": 3]]]],
            [[["id": 1, "notes_ids": [2]]], [["id": 4, "notes": [["id": 5, "next": ["id": 2, "user_id": 9]]]]]],
            "the awaited row of a list references a row that does not arrive"
        ),
        (
            "Note", [["id": 1, "twin": ["id": 3]]],
            [[["id": 1, "twin_id": 2], ["id": 4, "twin": ["id": 1]]], [["id": 5, "next": ["id": 2]]]],
            "a record of the page replaces a symmetric reference"
        ),
        (
            "User", [["id": 9, "notes": [["id": 1, "user_id": 4]]]],
            [[["id": 2, "notes": [["id": 7, "user": ["id": 4]]]]], [["id": 4, "notes": []]]],
            "the awaited owner arrives, and then its list without the row"
        ),
    ]

    @Test(
        "Pages that contradict a pending reference of an earlier page give the rows of one payload",
        arguments: inconsistentRecordCount)
    func contradictedPages(entity: String, before: JSONValue, pages: [[JSONValue]], about: String) async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Note", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [
                    SyncModel.Relationship("user", to: "User", inverse: "notes"),
                    SyncModel.Relationship("next", to: "Note"),
                    SyncModel.Relationship("twin", to: "Note", inverse: "twin"),
                ]),
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("notes", to: "Note", many: true, inverse: "user")]),
            SyncModel.Entity(
                "Member", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("car", to: "Car", inverse: "driver")]),
            SyncModel.Entity(
                "Car", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [
                    SyncModel.Relationship("driver", to: "Member", inverse: "car"),
                    SyncModel.Relationship("spare", to: "Car"),
                ]),
        ])
        let (whole, paged) = (try DataStack.inMemory(model), try DataStack.inMemory(model))
        for stack in [whole, paged] { try await Sync.changes(before, inEntity: entity, stack: stack) }
        try await Sync.changes(.array(pages.flatMap { $0 }), inEntity: entity, stack: whole)
        let run = PagedImport()
        for page in pages {
            try await Sync.changes(
                .array(page), inEntity: entity, stack: paged, options: SyncOptions(payloadKind: .page(of: run)))
        }
        try await run.finish()
        let differences = try await paged.contents().differences(from: whole.contents())
        #expect(differences == [], "\(about)")
    }

    @Test("Pages give the rows of the whole snapshot, however it is cut")
    func pagesEqualSnapshot() async throws {
        let whole = try await store()
        let expected = try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: whole)
        let records = try records("day2")
        #expect(records.count > 5)
        for cuts in 0..<(1 << (records.count - 1)) where LongTests.areWanted || cuts.isMultiple(of: 9) {
            let stack = try await store()
            let run = PagedImport()
            for page in Self.pages(of: records, cuts: cuts) {
                try await Sync.changes(
                    .array(page), inEntity: "User", stack: stack, options: SyncOptions(payloadKind: .page(of: run)))
            }
            let result = try await run.finish()
            #expect(try await stack.contents() == whole.contents(), "cuts: \(cuts)")
            #expect(result["User"].deleted == expected["User"].deleted)
            #expect(result["User"].inserted == expected["User"].inserted)
            #expect(result["Note"].deleted == expected["Note"].deleted)
            #expect(result.root.deleted == expected.root.deleted)
        }
    }

    @Test("A child that a later page gives to another owner is kept")
    func movedChildIsKept() async throws {
        let stack = try await store()
        try await stack.write { db in try db.execute(sql: "ALTER TABLE Note ADD COLUMN mark TEXT") }
        try await stack.write { db in try db.execute(sql: "UPDATE Note SET mark = 'kept' WHERE id = 11") }
        let moved: JSONValue = ["id": 11, "text": "moved"]
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        try await Sync.changes([["id": 1, "notes": []]], inEntity: "User", stack: stack, options: options)
        try await Sync.changes([["id": 2, "notes": [moved]]], inEntity: "User", stack: stack, options: options)
        try await run.finish()
        let mark = try await stack.read { db in
            try String.fetchOne(db, sql: "SELECT mark || userID FROM Note WHERE id = 11")
        }
        #expect(mark == "kept2")
    }

    @Test("A child with an occurrence but no owner is unlinked, and a child that no page mentions is deleted")
    func unlistedChildren() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let notes: JSONValue = [["id": 1], ["id": 2], ["id": 3]]
        try await Sync.changes([["id": 1, "notes": notes]], inEntity: "User", stack: stack)
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        try await Sync.changes([["id": 1, "notes": [["id": 1]]]], inEntity: "User", stack: stack, options: options)
        #expect(try await stack.count("Note") == 3)
        // The note occurs under user 5, whose list then omits it. It has an occurrence, so it stays.
        let last: JSONValue = [["id": 5, "note_ids": [2]], ["id": 5, "note_ids": []]]
        try await Sync.changes(last, inEntity: "User", stack: stack, options: options)
        let result = try await run.finish()
        #expect(result["Note"].deleted == [.integer(3)])
        let owners = try await stack.read { db in
            try String.fetchAll(db, sql: "SELECT id || ':' || coalesce(userID, 'none') FROM Note ORDER BY id")
        }
        #expect(owners == ["1:1", "2:none"])
    }

    @Test("A child that a later page links by its foreign key is ordered after the listed ones")
    func childLinkedLaterComesLast() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Item", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [
                    SyncModel.Relationship("parent", to: "Item", inverse: "children"),
                    SyncModel.Relationship("children", to: "Item", many: true, ordered: true, inverse: "parent"),
                ])
        ])
        let pages: [JSONValue] = [[["id": 1, "children": [["id": 3]]]], [["id": 2, "parent_id": 1]]]
        let stack = try DataStack.inMemory(model)
        try await Sync.changes([["id": 1, "children": [["id": 2], ["id": 4]]]], inEntity: "Item", stack: stack)
        let run = PagedImport()
        for page in pages {
            try await Sync.changes(
                page, inEntity: "Item", stack: stack, options: SyncOptions(payloadKind: .page(of: run)))
        }
        try await run.finish()
        let children = try await stack.read { db in
            try String.fetchAll(
                db, sql: "SELECT id || ':' || sync_parent_order FROM Item WHERE parentID = 1 ORDER BY sync_parent_order"
            )
        }
        #expect(children == ["3:0", "2:1"])
    }

    @Test("A sequence of pages that fails deletes nothing")
    func failedSequenceDeletesNothing() async throws {
        struct Lost: Error {}
        let stack = try await store()
        let pages = AsyncThrowingStream<Data, any Error> { stream in
            stream.yield(Data(#"[{"id": 1, "notes": []}]"#.utf8))
            stream.finish(throwing: Lost())
        }
        let counts = try (await stack.count("User"), await stack.count("Note"))
        await #expect(throws: Lost.self) { try await Sync.changes(pages: pages, inEntity: "User", stack: stack) }
        #expect(try (await stack.count("User"), await stack.count("Note")) == counts)
        #expect(counts.0 > 0 && counts.1 > 0)
    }

    @Test("A sequence of pages that finishes is one snapshot")
    func finishedSequenceIsASnapshot() async throws {
        let stack = try await store()
        let pages = AsyncStream<Data> { stream in
            stream.yield(Data(#"[{"id": 1, "notes": []}]"#.utf8))
            stream.yield(Data(#"[{"id": 2}]"#.utf8))
            stream.finish()
        }
        let result = try await Sync.changes(pages: pages, inEntity: "User", stack: stack)
        #expect(try await stack.fetch("User").map(\.key) == [.integer(1), .integer(2)])
        #expect(result["User"].deletedCount == 6)
        #expect(try await Sync.changes(pages: pages, inEntity: "User", stack: stack).isEmpty)
    }

    @Test("A paged import does not keep itself and its stack in memory, finished or not", arguments: [true, false])
    func released(finishes: Bool) async throws {
        weak var released: DataStack?
        weak var releasedImport: PagedImport?
        do {
            let run = PagedImport()
            let stack = try DataStack.inMemory(
                SyncModel(entities: [
                    SyncModel.Entity("User", attributes: [.init("id", .integer)])
                ]))
            (released, releasedImport) = (stack, run)
            try await Sync.changes(
                Data(#"[{"id": 1}]"#.utf8), inEntity: "User", stack: stack,
                options: SyncOptions(payloadKind: .page(of: run)))
            if finishes { try await run.finish() }
        }
        #expect(released == nil)
        #expect(releasedImport == nil)
    }

    @Test("A paged import with a failed page cannot finish and deletes nothing")
    func failedPagePreventsTheEnd() async throws {
        let stack = try await store()
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        try await Sync.changes([["id": 1]], inEntity: "User", stack: stack, options: options)
        await #expect(throws: SyncError.self) {
            try await Sync.changes(Data("[{".utf8), inEntity: "User", stack: stack, options: options)
        }
        let before = try await stack.contents()
        let later = await #expect(throws: SyncError.self) {
            try await Sync.changes([["id": 700]], inEntity: "User", stack: stack, options: options)
        }
        let error = await #expect(throws: SyncError.self) { try await run.finish() }
        #expect(error?.code == .invalidOption)
        #expect(later == error)
        #expect(try await stack.contents() == before)
    }

    @Test("A page of another call or after the end of the paged import is an error")
    func pagesAreOfOneCall() async throws {
        let stack = try await store()
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        try await Sync.changes([["id": 1]], inEntity: "User", stack: stack, options: options)
        let other = await #expect(throws: SyncError.self) {
            try await Sync.changes([["id": 1]], inEntity: "Company", stack: stack, options: options)
        }
        #expect(other?.code == .invalidOption)
        try await run.finish()
        await #expect(throws: SyncError.self) { try await run.finish() }
        await #expect(throws: SyncError.self) {
            try await Sync.changes([["id": 1]], inEntity: "User", stack: stack, options: options)
        }
    }

    @Test("A paged import with an unreadable page cannot finish, and one without pages changes nothing")
    func unreadablePagePreventsTheEnd() async throws {
        let stack = try await store()
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        try await Sync.changes([["id": 1]], inEntity: "User", stack: stack, options: options)
        try await Sync.changes([], inEntity: "User", stack: stack, options: options)
        let before = try await stack.contents()
        let page: JSONValue = [["first_name": "no key", "notes": [["id": 77]]]]
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(page, inEntity: "User", stack: stack, options: options)
        }
        #expect(error?.code == .noRecords)
        await #expect(throws: SyncError.self) { try await run.finish() }
        #expect(try await PagedImport().finish().isEmpty)
        #expect(try await stack.contents() == before)
    }

    @Test("A page of one object prevents deletions of its entity, unless a predicate sets the scope")
    func objectPageDeletesNothing() async throws {
        let predicate = RowPredicate.where("id < 4")
        for (pages, predicate, remaining) in [
            ([["id": 1]], nil, 8), ([["id": 1], ["id": 2]], nil, 8), ([[["id": 1]], ["id": 500]], nil, 9),
            ([["id": 500], []], nil, 9), ([[["id": 1]], ["id": 500]], predicate, 7), ([[["id": 1]], []], nil, 1),
        ] as [([JSONValue], RowPredicate?, Int)] {
            let stack = try await store()
            let run = PagedImport()
            for page in pages {
                try await Sync.changes(
                    page, inEntity: "User", stack: stack, predicate: predicate,
                    options: SyncOptions(payloadKind: .page(of: run)))
            }
            try await run.finish()
            #expect(try await stack.count("User") == remaining, "\(pages)")
        }
    }

    @Test("The first page of one object reports that the paged import deletes no omitted rows")
    func objectPageIsReported() async throws {
        let stack = try await store()
        let run = PagedImport()
        var results: [SyncResult] = []
        for page in [[["id": 1]], ["id": 2], ["id": 3]] as [JSONValue] {
            results.append(
                try await Sync.changes(
                    page, inEntity: "User", stack: stack, options: SyncOptions(payloadKind: .page(of: run))))
        }
        #expect(results.map { $0.diagnostics.map(\.kind) } == [[], [.deletionsSkipped], []])
        #expect(results[1].diagnostics.first?.entity == "User")
        #expect(try await run.finish().diagnostics.map(\.kind) == [.deletionsSkipped])
    }

    @Test("A page of one object reports nothing if a predicate sets the scope, or if no deletion is allowed")
    func scopedObjectPageIsNotReported() async throws {
        for (predicate, operations) in [
            (RowPredicate.where("id < 4"), SyncOperations.all), (nil, SyncOperations.all.subtracting(.delete)),
        ] {
            let result = try await Sync.changes(
                ["id": 1], inEntity: "User", stack: store(), predicate: predicate, operations: operations,
                options: SyncOptions(payloadKind: .page(of: PagedImport())))
            #expect(result.diagnostics.isEmpty)
        }
    }

    @Test("A page of one object replaces the lists in it")
    func objectPageReplacesLists() async throws {
        let stack = try await store()
        let run = PagedImport()
        try await Sync.changes(
            ["id": 1, "notes": []], inEntity: "User", stack: stack, options: SyncOptions(payloadKind: .page(of: run)))
        #expect(try await run.finish()["Note"].deletedCount == 2)
        #expect(try await stack.count("User") == 8)
    }

    @Test("A paged import deletes within its predicate, operations and deletion limit")
    func pagesDeleteWithinLimits() async throws {
        for (predicate, operations, remaining) in [
            (RowPredicate.where("id < 4"), SyncOperations.all, 6),
            (nil, SyncOperations.all.subtracting(.delete), 8),
        ] {
            let stack = try await store()
            let run = PagedImport()
            try await Sync.changes(
                [["id": 1]], inEntity: "User", stack: stack, predicate: predicate, operations: operations,
                options: SyncOptions(payloadKind: .page(of: run)))
            try await run.finish()
            #expect(try await stack.count("User") == remaining)
        }
        let stack = try await store()
        let run = PagedImport()
        try await Sync.changes(
            [["id": 1]], inEntity: "User", stack: stack,
            options: SyncOptions(payloadKind: .page(of: run), deletionLimit: .rows(3)))
        let error = await #expect(throws: SyncError.self) { try await run.finish() }
        #expect(error?.code == .deletionLimitExceeded)
        #expect(try await stack.count("User") == 8)
    }

    @Test("A paged import for a parent deletes the children that no page lists")
    func pagesForAParent() async throws {
        let stack = try await store()
        let stored = try await stack.fetch("Note", where: "user.id == 1").count
        #expect(stored > 0)
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        for id in 100...101 {
            try await Sync.changes(
                [["id": JSONValue(id)]], inEntity: "Note", stack: stack, parent: SyncParent("User", id: 1),
                options: options)
        }
        let result = try await run.finish()
        #expect(result["Note"].deletedCount == stored)
        #expect(try await stack.fetch("Note", where: "user.id == 1").map(\.key) == [.integer(100), .integer(101)])
    }

    @Test("A delta keeps the rows that it omits, and deletes children that its lists omit")
    func deltaReplacesLists() async throws {
        let stack = try await store()
        let users = try await stack.count("User")
        try await Sync.changes(
            [["id": 1, "notes": []]], inEntity: "User", stack: stack, options: SyncOptions(payloadKind: .delta))
        #expect(try await stack.count("User") == users)
        #expect(try await stack.count("Note", where: "user.id == 1") == 0)
    }
}

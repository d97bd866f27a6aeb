import Foundation
import GRDB
import Sync
import Testing

@Suite("Values that a Swift type cannot hold")
struct UnreadableRowTests {
    private final class Skipped: @unchecked Sendable {
        private let lock = NSLock()
        private var rows: [UnreadableRow] = []

        func note(_ row: UnreadableRow) { lock.withLock { rows.append(row) } }

        func take() -> [UnreadableRow] {
            lock.withLock {
                defer { rows = [] }
                return rows
            }
        }
    }

    /// Every kind of misfit: an unknown case of an enumeration, a number out of range, another nested type.
    private static let json = Data(
        #"""
        [{"id": 1, "stage": "open", "level": 5, "place": {"street": "Main"}, "tasks": [{"number": 1}]},
         {"id": 2, "stage": "archived", "level": 300, "place": {"road": "Main"},
          "tasks": [{"number": 1, "stage": "open"}, {"number": 2, "stage": "later"}]}]
        """#.utf8)

    private func model() throws -> SyncModel { try SyncModel(Job.self, Chore.self) }

    @Test("Values that a type cannot hold are skipped with a diagnostic each, and fail a strict sync")
    func valuesAreSkipped() async throws {
        let stack = try DataStack.inMemory(model())
        let result = try await Sync.changes(Self.json, inEntity: "Job", stack: stack)
        let found = result.diagnostics.filter { $0.kind == .typeMismatch }
        #expect(found.map(\.path) == ["[1].stage", "[1].level", "[1].place", "[1].tasks[1].stage"])
        #expect(found.first?.message.contains("a string that is a") ?? false)
        #expect(found[2].message.hasSuffix("a json that is a Place: 'street' is missing"), "\(found[2].message)")
        let jobs = try await stack.fetch(Job.self, including: \.tasks)
        #expect(jobs.map(\.stage) == [.open, nil] && jobs.map(\.level) == [5, nil])
        #expect(jobs.map(\.place) == [Place(street: "Main"), nil])
        #expect(jobs[1].tasks.rows?.map(\.stage) == [.open, .open])

        var strict = SyncOptions()
        strict.isStrict = true
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Self.json, inEntity: "Job", stack: stack, options: strict)
        }
        #expect(error?.code == .typeMismatch && error?.path == "[1].stage")
    }

    private enum Priority: String, CaseIterable, Codable, Sendable {
        case low
        case high = "top"
    }

    private enum Size: Int, CaseIterable, Codable, Sendable { case small = 1, large = 5 }

    @Test("The diagnostic of an unknown case lists the cases of the enumeration, if it is CaseIterable")
    func casesAreListed() async throws {
        let task = SyncModel.Entity(
            "Task",
            attributes: [
                .init("id", Int.self, isKey: true), .init("priority", Priority?.self), .init("size", Size.self),
                .init("stage", Stage?.self),
            ])
        let stack = try DataStack.inMemory(SyncModel(entities: [task]))
        let json = Data(#"[{"id": 1, "size": 1}, {"id": 1, "priority": "urgent", "size": 2, "stage": "later"}]"#.utf8)
        let result = try await Sync.changes(json, inEntity: "Task", stack: stack)
        let messages = Dictionary(
            result.diagnostics.map { ($0.path, $0.message) }, uniquingKeysWith: { first, _ in first })
        #expect(messages["[1].priority"]?.hasSuffix("a string that is a Priority (low, top)") == true, "\(messages)")
        #expect(messages["[1].size"]?.hasSuffix("an integer that is a Size (1, 5)") == true, "\(messages)")
        #expect(messages["[1].stage"]?.hasSuffix("a string that is a Stage") == true, "\(messages)")
    }

    private struct Route: Codable, Sendable {
        struct Stop: Codable, Sendable {
            var name: String
            var at: Date
        }
        var stops: [Stop]
    }

    @Test(
        "A diagnostic of a Codable value and the error of a stored row name the member that does not fit",
        arguments: [
            (#"{"stops": 1}"#, "'stops' is not of type"), (#"{"stops": [{"name": "a"}]}"#, "'stops[0].at' is missing"),
            (#"{"stops": [{"name": null, "at": 1}]}"#, "'stops[0].name' is null"),
            (#"{"stops": [{"name": "a", "at": "soon"}]}"#, "'stops[0].at' is not valid"),
            (#""secret""#, "the value is not of type"),
        ])
    func misfitsNameMember(route: String, reason: String) async throws {
        let trip = SyncModel.Entity(
            "Trip", attributes: [.init("id", Int.self, isKey: true), .init("route", Route?.self)])
        let stack = try DataStack.inMemory(SyncModel(entities: [trip]))
        let json = Data(#"[{"id": 1, "route": \#(route)}]"#.utf8)
        var options = SyncOptions()
        options.includesValuesInErrors = false
        let message = try await Sync.changes(json, inEntity: "Trip", stack: stack, options: options)
            .diagnostics.first?.message
        #expect(message?.contains("that is a Route: \(reason)") == true, "\(message ?? "nil")")
        #expect(message?.contains("secret") == false && message?.contains("soon") == false)
    }

    @Test("Values that only the type of the call cannot hold are skipped too")
    func typeOfTheCallCounts() async throws {
        let schema = try model().schemaFile()
        let stack = try DataStack.inMemory(SyncModel(schemaData: schema))
        let plain = try await Sync.plan(Self.json, inEntity: "Job", stack: stack)
        #expect(plain.diagnostics.isEmpty)
        let result = try await Sync.changes(Self.json, as: Job.self, stack: stack)
        #expect(result.diagnostics.map(\.path).prefix(3) == ["[1].stage", "[1].level", "[1].place"])
    }

    @Test("Numbers at the bounds of a type fit")
    func boundsFit() async throws {
        let stack = try DataStack.inMemory(model())
        let json = Data(#"[{"id": 1, "level": 127}, {"id": 2, "level": -128}, {"id": 3, "level": null}]"#.utf8)
        #expect(try await Sync.changes(json, as: Job.self, stack: stack).diagnostics.isEmpty)
        #expect(try await stack.fetch(Job.self).map(\.level) == [127, -128, nil])
        let wide = Data(#"[{"id": 1, "level": 128}, {"id": 2, "level": -129}]"#.utf8)
        #expect(try await Sync.changes(wide, as: Job.self, stack: stack).diagnostics.count == 2)
    }

    /// Returns a store with rows from before the type changed.
    private func older() async throws -> DataStack {
        let stack = try DataStack.inMemory(model())
        try await Sync.changes(Self.json, inEntity: "Job", stack: stack)
        try await stack.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Job (id, stage) VALUES (3, 'archived'); INSERT INTO Job (id, level) VALUES (4, 300);
                    INSERT INTO Job (id, place) VALUES (5, '{"road":1}');
                    UPDATE Chore SET stage = 'later' WHERE jobID = 2 AND number = 2
                    """)
        }
        return stack
    }

    @Test("An unreadable row fails a fetch, or is skipped and reported")
    func unreadableRowFailsAFetch() async throws {
        let stack = try await older()
        let error = await #expect(throws: SyncError.self) { try await stack.fetch(Job.self) }
        #expect(error?.code == .typeMismatch && error?.path == "stage")
        #expect(error?.message.contains("in the row 3") ?? false)

        let skipped = Skipped()
        let jobs = try await stack.fetch(Job.self, skippingUnreadable: skipped.note, including: \.tasks)
        #expect(jobs.map(\.id) == [1, 2])
        #expect(jobs[1].tasks.rows?.map(\.number) == [1])
        let rows = skipped.take()
        #expect(rows.map(\.entity).sorted() == ["Chore", "Job", "Job", "Job"])
        #expect(
            rows.filter { $0.entity == "Job" }.map(\.key) == [.integer(3), .integer(4), .integer(5)])
        #expect(rows.filter { $0.entity == "Job" }.map(\.error.path) == ["stage", "level", "place"])
        #expect(rows.first { $0.error.path == "place" }?.error.message.contains("'street' is missing") == true)
        #expect(rows.first { $0.entity == "Chore" }?.key.json == [2, 2])

        let read = try await stack.read { db in
            try stack.fetch(Job.self, where: "id > 2", skippingUnreadable: skipped.note, in: db)
        }
        #expect(read.isEmpty && skipped.take().count == 3)
        let sync = try await stack.fetch(Job.self, where: "id < 4", orderedBy: "-id", skippingUnreadable: skipped.note)
        #expect(sync.map(\.id) == [2, 1] && skipped.take().map(\.key) == [.integer(3)])
    }

    @Test("An unreadable row does not end an observation that skips it")
    func observationSkipsRows() async throws {
        let stack = try await older()
        var failing = try stack.observe(Job.self).makeAsyncIterator()
        await #expect(throws: SyncError.self) { _ = try await failing.next() }

        let skipped = Skipped()
        var lists = try stack.observe(Job.self, skippingUnreadable: skipped.note).makeAsyncIterator()
        var changes = try stack.observeChanges(Job.self, skippingUnreadable: skipped.note).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.id) == [1, 2])
        #expect(try await changes.next()?.rows.map(\.id) == [1, 2])
        #expect(skipped.take().map(\.key).contains(.integer(3)))
        try await stack.write { db in try db.execute(sql: "UPDATE Job SET stage = 'done' WHERE id = 3") }
        #expect(try await lists.next()?.map(\.id) == [1, 2, 3])
        #expect(try await changes.next()?.inserted == [2])
        try await stack.write { db in try db.execute(sql: "UPDATE Job SET stage = 'gone' WHERE id = 1") }
        #expect(try await lists.next()?.map(\.id) == [2, 3])
        #expect(try await changes.next()?.removed == [0])
    }

    @Test("An unreadable row is skipped for a decodable type that is no record")
    func decodableTypeSkipsRows() async throws {
        struct Line: Decodable, Sendable {
            var id: Int
            var stage: Stage?
        }
        let stack = try await older()
        await #expect(throws: SyncError.self) { try await stack.fetch("Job", as: Line.self) }
        let skipped = Skipped()
        let lines = try await stack.fetch("Job", as: Line.self, skippingUnreadable: skipped.note)
        #expect(lines.map(\.id) == [1, 2, 4, 5])
        #expect(skipped.take().map(\.key) == [.integer(3)])
    }
}

import Foundation
import Sync
import SyncTools
import Testing

/// Records with one key are merged and reported.
@Suite("Records with one key")
struct RepeatedRecordTests {
    private static let model = """
        {"entities": {
          "User": {"attributes": {"id": "integer", "name": "string", "extra": "json", "joined": "date"}, "relationships": {
            "company": {"entity": "Company"}, "notes": {"entity": "Note", "many": true, "inverse": "user"}}},
          "Company": {"attributes": {"id": "integer", "name": "string"}},
          "Note": {"attributes": {"id": "integer", "text": "string"}, "relationships": {"user": {"entity": "User"}}}}}
        """

    private func stack() throws -> DataStack { try .inMemory(SyncModel(schemaData: Data(Self.model.utf8))) }

    private func findings(_ json: String, _ options: SyncOptions = SyncOptions()) async throws -> [SyncDiagnostic] {
        try await Sync.validate(Data(json.utf8), inEntity: "User", stack: stack(), options: options)
            .filter { $0.kind == .inconsistentRecords }
    }

    /// Payload, repeated root records, inconsistent records.
    static let payloads: [(String, Int, Int)] = [
        (#"[{"id": 1, "name": "a"}, {"id": 2}, {"id": 1, "name": "b"}]"#, 1, 1),
        (#"[{"id": 1, "name": "a"}, {"id": 1, "name": "a"}, {"id": 1}]"#, 2, 0),
        (#"[{"id": 1, "name": "a"}, {"id": 1, "name": "b"}, {"id": 1, "name": "b"}]"#, 2, 2),
        (#"[{"id": 1, "name": "a"}, {"id": 1, "name": null}]"#, 1, 1),
        (#"[{"id": 1, "extra": {"a": [1]}}, {"id": 1, "extra": {"a": [2]}}]"#, 1, 1),
        (#"[{"id": 1, "joined": "2024-01-01T00:00:00Z"}, {"id": 1, "joined": "2024-01-01T01:00:00+01:00"}]"#, 1, 0),
        (#"[{"id": 1, "name": "\u0061"}, {"id": "1", "name": "a"}]"#, 1, 0),
        (#"[{"id": 1, "company_id": 7}, {"id": 1, "company": {"id": 7, "name": "x"}}]"#, 1, 0),
        (#"[{"id": 1, "company_id": 7}, {"id": 1, "company": {"id": 8}}]"#, 1, 1),
        (#"[{"id": 1, "company_id": 7, "name": "a"}, {"id": 1, "company": null, "name": "b"}]"#, 1, 1),
        (#"[{"id": 1, "company": {"id": 7, "name": "x"}}, {"id": 2, "company": {"id": 7}}]"#, 0, 0),
        (#"[{"id": 1, "company": {"id": 7, "name": "x"}}, {"id": 2, "company": {"id": 7, "name": "y"}}]"#, 0, 1),
        (#"[{"id": 1, "notes": [{"id": 5, "user": {"id": 1, "name": "b"}}], "name": "a"}]"#, 0, 1),
        (#"[{"id": 1, "notes": [{"id": 5}, {"id": 5}]}, {"id": 2}]"#, 0, 0),
    ]

    @Test("Repeated records are counted, and inconsistent ones at any depth", arguments: payloads)
    func inconsistentRecordsAreCounted(json: String, repeated: Int, inconsistentRecordCount: Int) async throws {
        let data = Data(json.utf8)
        var hooked = SyncOptions()
        hooked.willInsert = { $0.record }
        let results = [
            try await Sync.changes(data, inEntity: "User", stack: stack()),
            try await Sync.changes(JSONValue(parsing: data), inEntity: "User", stack: stack()),
            try await Sync.changes(
                data, inEntity: "User", stack: stack(), operations: [.insert, .insertRelationships]),
            try await Sync.changes(data, inEntity: "User", stack: stack(), options: hooked),
            try await Sync.plan(data, inEntity: "User", stack: stack()),
        ]
        for result in results {
            #expect(result.duplicateRecordCount == repeated)
            #expect(result.inconsistentRecordCount == inconsistentRecordCount)
            #expect(result.recordCount - result.duplicateRecordCount == result.root.inserted)
        }
        let found = try await findings(json)
        #expect(found.isEmpty == (inconsistentRecordCount == 0), "\(found)")
        var strict = SyncOptions()
        strict.isStrict = true
        let (empty, options) = (try stack(), strict)
        if inconsistentRecordCount == 0 {
            try await Sync.changes(data, inEntity: "User", stack: empty, options: options)
        } else {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(data, inEntity: "User", stack: empty, options: options)
            }
            #expect(error?.code == .inconsistentRecords)
            #expect(try await empty.fetch("User").isEmpty)
        }
    }

    @Test("Inconsistent records are reported by path, with values if they may be revealed")
    func inconsistentRecordsHavePaths() async throws {
        let json = #"[{"id": 1, "name": "a", "company_id": 7}, {"id": 2}, {"id": 1, "company_id": 8, "name": "b"}]"#
        let plain = try await findings(json)
        #expect(plain.map(\.path) == ["[2]"])
        #expect(plain.first?.message == "differs from [0], which has the same key: 'name' and 'company' differ")
        let shown = try await findings(json, SyncOptions(includesValuesInErrors: true))
        #expect(
            shown.first?.message
                == #"differs from [0], which has the same key: 'name' is "b" here and "a" there, 'company' is 8 here and 7 there"#
        )
        let nested = try await findings(
            #"[{"id": 1, "notes": [{"id": 5, "text": "x"}]}, {"id": 2, "notes": [{"id": 6}, {"id": 5, "text": "y"}]}]"#)
        #expect(nested.map(\.path) == ["[1].notes[1]"])
        #expect(nested.first?.message == "differs from [0].notes[0], which has the same key: 'text' differs")
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(
                Data(json.utf8), inEntity: "User", stack: stack(), options: SyncOptions(isStrict: true))
        }
        #expect(error?.path == "[2]")
        #expect(
            error?.message.contains("differs from [0], which has the same key: 'name' and 'company' differ") == true)
    }

    @Test("Records that several pages repeat are counted, and the encoded result has the count")
    func repeatedRecordsOfPages() async throws {
        let (run, stack) = (PagedImport(), try stack())
        var options = SyncOptions()
        options.payloadKind = .page(of: run)
        for page in [#"[{"id": 1}, {"id": 2}]"#, #"[{"id": 2}, {"id": 3}]"#] {
            try await Sync.changes(Data(page.utf8), inEntity: "User", stack: stack, options: options)
        }
        let result = try await run.finish()
        #expect(result.recordCount == 4)
        #expect(result.duplicateRecordCount == 1)
        let decoded = try JSONDecoder().decode(SyncResult.self, from: JSONEncoder().encode(result))
        #expect(decoded == result)
    }
}

import Foundation
import GRDB
import Sync
import TestSize
import Testing

/// Countries, languages, currencies and subdivisions of the package `iso-codes`: 13,000 records that were not written
/// for a test. The files of the first three are synced unchanged. Subdivisions name their country only in their code,
/// and their parent in two ways, so `IsoCodes` completes them first.
@Suite("The lists of iso-codes")
struct IsoCodesTests {
    /// Languages and subdivisions have thousands of records.
    static let lists = [IsoCodes.countries, .currencies] + (LongTests.areWanted ? [.languages, .subdivisions] : [])

    @Test("Every record and every field of a list is stored", arguments: lists)
    func everyFieldIsStored(_ list: IsoCodes) async throws {
        let (stack, result) = try await list.synced()
        let records = try list.records()
        #expect(records.count > 150)
        #expect(result[list.entity].insertedCount == records.count)
        #expect(result.root.inserted == records.count)
        #expect(result.diagnostics == [])
        #expect(result.unmappedKeys == [])
        #expect(result.pendingReferences == [])
        try list.expectRows(records, in: stack)
        #expect(try await stack.read { db in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count } == 0)
    }

    @Test("A second sync of a list writes nothing", arguments: lists)
    func secondSyncWritesNothing(_ list: IsoCodes) async throws {
        let (stack, _) = try await list.synced()
        let written = try await stack.changesWritten()
        #expect(written > 150)
        let result = try await list.sync(list.payload(), stack)
        #expect(result.isEmpty)
        #expect(try result[list.entity].unchangedCount == list.records().count)
        #expect(try await stack.changesWritten() == written)
    }

    @Test("A list as NDJSON gives the same rows as its file")
    func linesChangeNothing() async throws {
        let list = IsoCodes.languages
        let (stack, _) = try await list.synced()
        let lines = try list.records().map { try JSONSerialization.data(withJSONObject: $0) }
        var options = SyncOptions()
        options.format = .ndjson
        let result = try await Sync.changes(
            Data(lines.joined(separator: [UInt8(ascii: "\n")])), inEntity: list.entity, stack: stack, options: options)
        #expect(result.isEmpty)
        #expect(result[list.entity].unchangedCount == lines.count)
    }

    /// The JSON key and the attribute that are edited besides the name.
    struct Edit: Sendable, CustomTestStringConvertible {
        var list: IsoCodes
        var field: String
        var attribute: String
        var testDescription: String { "\(list.list) \(field)" }
    }

    static let edits = [
        Edit(list: .countries, field: "official_name", attribute: "officialName"),
        Edit(list: .languages, field: "inverted_name", attribute: "invertedName"),
        Edit(list: .currencies, field: "numeric", attribute: "numeric"),
        Edit(list: .subdivisions, field: "type", attribute: "type"),
    ].filter { edit in lists.contains { $0.list == edit.list.list } }

    @Test("Only records that were edited, removed or added change rows", arguments: edits)
    func onlyEditedRecordsChange(_ edit: Edit) async throws {
        let list = edit.list
        let (stack, _) = try await list.synced()
        var records = try list.records()
        let total = records.count
        let keys = try records.map { PrimaryKeyValue.text(try #require($0[list.key])) }
        records[10]["name"] = "Renamed"
        records[20]["name"] = "Rewritten"
        records[20][edit.field] = "New"
        records.remove(at: 40)
        records.remove(at: 30)
        records.append([list.key: "~new", "name": "Added"])

        let payload = try list.payload(records)
        let result = try await list.sync(payload, stack)
        let changes = result[list.entity]
        #expect(changes.inserted == [.text("~new")])
        #expect(changes.deleted == [keys[30], keys[40]].sorted())
        let updates = [keys[10]: ["name"], keys[20]: ["name", edit.attribute].sorted()]
        #expect(changes.updated.map(\.key) == updates.keys.sorted())
        for update in changes.updated { #expect(update.changedAttributes.sorted() == updates[update.key]) }
        #expect(changes.unchangedCount == total - 4)
        #expect(result.entities.filter { !$0.value.isEmpty }.map(\.key) == [list.entity])
        try list.expectRows(records, in: stack)

        let written = try await stack.changesWritten()
        #expect(try await list.sync(payload, stack).isEmpty)
        #expect(try await stack.changesWritten() == written)
    }

    @Test("A missing package gives an error that says how to install it")
    func missingPackageIsError() throws {
        let error = #expect(throws: MissingIsoCodes.self) { try IsoCodes.countries.file(in: "/nonexistent") }
        #expect("\(try #require(error))".contains("make test"))
    }
}

@Suite("The subdivisions of iso-codes")
struct IsoSubdivisionTests {
    private let list = IsoCodes.subdivisions

    @Test("A deleted country deletes its subdivisions and leaves no link")
    func deletedCountryDeletesSubdivisions() async throws {
        let (stack, _) = try await list.synced()
        let british = try list.records().filter { $0["country"] == "GB" }.count
        #expect(british > 200)
        let countries = IsoCodes.countries
        let rest = try countries.records().filter { $0["alpha_2"] != "GB" }
        let result = try await countries.sync(countries.payload(rest), stack)
        #expect(result["Country"].deleted == [.text("GB")])
        #expect(result["Subdivision"].deletedCount == british)
        #expect(result["Subdivision"].updatedCount == 0)
        try list.expectRows(list.records().filter { $0["country"] != "GB" }, in: stack)
    }

    /// The entity references itself, so the automatic scope covers only the rows without a parent.
    @Test(
        "An omitted subdivision with a parent is deleted only in the scope of all rows",
        arguments: [SyncOptions.Scope.automatic, .all])
    func scopeOfSubdivisions(_ scope: SyncOptions.Scope) async throws {
        let (stack, _) = try await list.synced()
        let rest = try list.records().filter { $0["code"] != "GB-BKM" && $0["code"] != "AD-02" }
        var options = list.options
        options.scope = scope
        let result = try await Sync.changes(list.payload(rest), inEntity: list.entity, stack: stack, options: options)
        let part: [PrimaryKeyValue] = scope == .all ? [.text("GB-BKM")] : []
        #expect(result["Subdivision"].deleted == [.text("AD-02")] + part)
        #expect(result["Subdivision"].updatedCount == 0)
    }

    @Test("A subdivision moves to the parent that its record names, or to none")
    func subdivisionsMove() async throws {
        let (stack, _) = try await list.synced()
        var records: [[String: Any]] = try list.records()
        let index = { (code: String) in try #require(records.firstIndex { $0["code"] as? String == code }) }
        let moved = try index("GB-BKM")
        let freed = try index("GB-ABD")
        records[moved]["parent"] = "GB-SCT"
        records[freed]["parent"] = NSNull()
        let result = try await list.sync(list.payload(records), stack)
        #expect(
            result["Subdivision"].updated == [
                .init(key: .text("GB-ABD"), changedAttributes: ["parent"]),
                .init(key: .text("GB-BKM"), changedAttributes: ["parent"]),
            ])
        #expect(result["Subdivision"].deletedCount == 0)
        let parents = try stack.read { db in
            try Row.fetchAll(
                db, sql: "SELECT code, parentID FROM Subdivision WHERE code IN ('GB-BKM', 'GB-ABD') ORDER BY code")
        }
        #expect(parents == [["code": "GB-ABD", "parentID": nil], ["code": "GB-BKM", "parentID": "GB-SCT"]])
    }
}

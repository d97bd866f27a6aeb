import Foundation
import GRDB
import Sync
import Testing

extension IsoCodes {
    /// Returns a new store with this list, and the result of the sync. Countries are synced before their subdivisions.
    func synced() async throws -> (DataStack, SyncResult) {
        let stack = try DataStack.inMemory(Fixtures.model("iso-codes"))
        if entity == "Subdivision" {
            let countries = IsoCodes.countries
            _ = try await countries.sync(countries.payload(), stack)
        }
        return (stack, try await sync(payload(), stack))
    }

    /// Syncs the payload with all rows in scope. Subdivisions reference each other, so the automatic scope covers only
    /// rows without a parent.
    func sync(_ payload: Data, _ stack: DataStack) async throws -> SyncResult {
        var options = options
        options.scope = .all
        return try await Sync.changes(payload, inEntity: entity, stack: stack, options: options)
    }

    /// Expects that the rows, as GRDB reads them, equal the records. Null values are left out.
    func expectRows(_ records: [[String: String]], in stack: DataStack) throws {
        let expected = try Dictionary(
            uniqueKeysWithValues: records.map { record in
                let texts = try record.map { (try #require(columns[$0.key], "no column for \($0.key)"), $0.value) }
                return (try #require(record[key]), Dictionary(uniqueKeysWithValues: texts))
            })
        let keyColumn = try #require(columns[key])
        let rows = try stack.read { db in try Row.fetchAll(db, sql: "SELECT * FROM \(entity)") }
        let found = try Dictionary(
            uniqueKeysWithValues: rows.map { row in
                let values = row.filter { !$1.isNull }
                let texts = try values.map { ($0, try #require(String.fromDatabaseValue($1), "\($0) is no text")) }
                return (try #require(row[keyColumn] as String?), Dictionary(uniqueKeysWithValues: texts))
            })
        let different = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }
        for key in different.sorted().prefix(5) {
            Issue.record("\(key): found \(found[key] ?? [:]), expected \(expected[key] ?? [:])")
        }
        let count = different.count
        #expect(count == 0)
    }
}

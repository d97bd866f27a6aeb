import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func beginListing(of entity: String, _ lease: EngineLease) async throws {
        let table = try table(entity)
        try await writing(lease) { db in try EngineLedger(db).beginListing(of: table) }
    }

    package func insertListed(
        _ listed: [ListedRecord], of entity: String, _ lease: EngineLease
    ) async throws -> ListingDifference {
        let table = try table(entity)
        return try await writing(lease) { [self] db in
            let ledger = EngineLedger(db)
            var news = ListingDifference()
            try ledger.insertListed(listed.map { try QuarantinedRecords.listed($0.id, table, in: db) }, table)
            for row in listed {
                guard let key = try table.key.k(of: row.id, in: db) else { continue }
                // The last version of a quarantined record is not the known version.
                guard let known = try ledger.listedVersion(of: row.id, key, table) else {
                    news.unknown.append(row.id)
                    continue
                }
                if isBehind(known, row.version) { news.outdated.append(row.id) }
            }
            return news
        }
    }

    /// Returns whether a listing has another version of a row than the known version, and not an older one.
    private func isBehind(_ known: String?, _ listed: String?) -> Bool {
        guard let listed else { return false }
        guard let known else { return true }
        let (here, there) = (RowVersion(known), RowVersion(listed))
        // The listing may come from a stale replica.
        return !here.isSame(as: there) && !(registration.ordersVersions && there.isBehind(here, at: Self.now))
    }

    package func missing(from entity: String, _ lease: EngineLease) async throws -> [JSONValue] {
        let table = try table(entity)
        return try await writing(lease) { [self] db in
            let ledger = EngineLedger(db)
            if registration.clientAssignsIDs { try ledger.insertUnlistedPreexisting(table) }
            try QuarantinedRecords(self, table, db).removeUnlisted()
            try ledger.unblock(.listed(table))
            let bodies = try OutgoingRecordBuilder(self, db)
            return try NestedOnlyRows(self, db).missingKeys(of: table).map { try bodies.remoteID(of: $0, table) }
        }
    }

    package func finishListing(of entity: String, missing ids: [JSONValue], _ lease: EngineLease) async throws {
        let table = try table(entity)
        try await writing(lease) { [self] db in
            let writer = try PageWriter(self, table, nil, db)
            for id in ids { try writer.insertTombstone(id, .missing) }
        }
    }
}

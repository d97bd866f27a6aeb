import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func prepareRequests(
        _ limit: Int, of entities: [String], upTo edit: Int64?, _ lease: EngineLease
    ) async throws -> (requests: [OutgoingRequest], edit: Int64, blocked: [BlockedChange]) {
        try await writing(lease, keepsMemory: true) { [self] db in
            let last = try EngineLedger(db).edit()
            let tables = parentsFirst.filter { entities.contains($0.entity.name) }
            var builder = try OutgoingRequestBuilder(self, tables, upTo: edit ?? last, db)
            let requests = try builder.prepareRequests(limit)
            return (requests, edit ?? last, builder.blocked)
        }
    }

    package func inDoubtRequests(_ lease: EngineLease) async throws -> [OutgoingRequest] {
        try await reading { [self] db in
            try LeaseStore.checkHolder(of: lease, in: db)
            return try tables.flatMap { try EngineLedger(db).requests(of: $0) }
        }
    }

    /// The registered tables, referenced tables before referencing tables. In a cycle, one table precedes a table that
    /// it references.
    var parentsFirst: [TrackedTable] {
        var ordered: [TrackedTable] = []
        var visited: Set<Int> = []
        func visit(_ table: TrackedTable) {
            guard visited.insert(table.number).inserted else { return }
            let destinations = table.columns.compactMap(\.destination) + table.joinTables.map(\.destination)
            for other in tables where destinations.contains(other.entity.table) { visit(other) }
            ordered.append(table)
        }
        for table in tables { visit(table) }
        return ordered
    }
}

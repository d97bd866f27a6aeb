import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func prepareRequests(
        _ limit: Int, of entities: [String], upTo edit: Int64?, _ lease: EngineLease
    ) async throws -> (requests: [OutgoingRequest], edit: Int64, blocked: [BlockedChange]) {
        try await writing(lease, keepsMemory: true) { [self] db in
            let last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT seq FROM sync_engine")) ?? 0
            let tables = parentsFirst.filter { entities.contains($0.entity.name) }
            var builder = try OutgoingRequestBuilder(self, tables, upTo: edit ?? last, db)
            let requests = try builder.prepareRequests(limit)
            return (requests, edit ?? last, builder.blocked)
        }
    }

    package func inDoubtRequests(_ lease: EngineLease) async throws -> [OutgoingRequest] {
        try await writing(lease, keepsMemory: true) { [self] db in
            try tables.flatMap { table in
                try db.rowsCached(
                    sql: """
                        SELECT id, kind, remote, body, version, idem, frozen, attempts, natural, taken, k, seq FROM sync_request
                        WHERE e = ? ORDER BY id
                        """, arguments: [table.number]
                ).map { row in
                    func json(_ index: Int) throws -> JSONValue? {
                        try row.decode(String?.self, atIndex: index).map { try EngineTableCheck.json($0) }
                    }
                    let id = try table.json(row[10], in: db).text
                    return OutgoingRequest(
                        id: try row.decode(atIndex: 0), entity: table.entity.name,
                        kind: try OutgoingRequest.Kind(rawValue: row.decode(atIndex: 1)) ?? .update,
                        remoteID: try json(2), body: try json(3) ?? .object([]), version: try row.decode(atIndex: 4),
                        idempotencyKey: try row.decode(atIndex: 5), edit: try row.decode(atIndex: 11),
                        preparedAt: try row.decode(atIndex: 6),
                        attempts: try row.decode(atIndex: 7), naturalKey: try json(8),
                        isRestoration: try row.decode(atIndex: 5)
                            == CreationID(reviving: id, of: table.entity.name).text,
                        acceptedAtEdit: try row.decode(atIndex: 9))
                }
            }
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

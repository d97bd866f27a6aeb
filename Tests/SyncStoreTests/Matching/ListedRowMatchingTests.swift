import SyncCore
import Testing

@testable import SyncStore

/// Matching needs no database: these rows are in arrays.
@Suite("Matching of rows that no database stores")
struct ListedRowMatchingTests {
    private static let payload = """
        [{"id": 2, "name": "b", "length": 1.5, "shelf": 7}, {"id": 1, "name": "a", "shelf": 8}, {"id": 3, "name": "c", "tags": [5, 6]}]
        """

    private struct Sync {
        let graph: PayloadGraph
        let songs: SyncTable
        let tables: SyncTables
        let layout: StoreLayout
        let lookups: [NodeLookup]

        func columns(_ table: TableID) -> RowColumns {
            RowColumns(layout.model[table], layout, name: layout[table].name, compositeKeys: [])
        }

        /// Returns the values of a song in the order of its columns.
        func row(_ id: Int64, _ entity: String = "Song", name: String, shelf: Int64? = nil) throws -> [RowKey?] {
            let columns = columns(songs.id)
            var row: [RowKey?] = Array(repeating: nil, count: columns.count)
            row[0] = .integer(id)
            row[try #require(columns.entity)] = .text(entity)
            for (slot, attribute) in songs.hierarchy.attributes.enumerated() {
                if attribute.name == "id" { row[columns.attributes + slot] = .integer(id) }
                if attribute.name == "name" { row[columns.attributes + slot] = .text(name) }
                if attribute.name == "length" { row[columns.attributes + slot] = .real(1.5) }
            }
            let index = try #require(songs.foreignKey(layout.model.link("Song", "shelf").link.id))
            row[columns.foreignKeys + index] = shelf.map { .integer($0) }
            row[try #require(columns.orders[index])] = shelf.map { _ in .integer(4) }
            return row
        }
    }

    private func with(_ body: (Sync) throws -> Void) throws {
        let graph = try SongModel.graph(Self.payload)
        try SongModel.withTables(graph) { tables in
            try body(
                Sync(
                    graph: graph, songs: tables[graph.model.entity(named: "Song").table], tables: tables,
                    layout: StoreLayout(graph.model),
                    lookups: tables.map { NodeLookup($0.batch, testsStorageClass: false) }))
        }
    }

    @Test("Rows find their nodes in any order, and in the order of their keys", arguments: [false, true])
    func matchesRows(isOrdered: Bool) throws {
        try with { sync in
            let songs = sync.songs
            let filter = UnmatchedRowFilter(
                watched: songs.hierarchy.foreignKeys.map { _ in true }, scope: nil, coversAll: true)
            var matcher = RowMatcher(songs, .both, sync.lookups, columns: sync.columns, collecting: filter)
            let rows = ListedRows([
                try sync.row(1, name: "a", shelf: 8), try sync.row(2, "Live", name: "x", shelf: 7),
                try sync.row(4, name: "d", shelf: 7), try sync.row(5, name: "e", shelf: 9),
            ])
            var counter = ProgressCounter(ProgressReporter(nil))
            if isOrdered {
                let keys = SortedKeyIterator(try #require(sync.lookups[songs.id.index].integerKeys))
                try matcher.matchAll(rows, inOrderOf: keys, &counter)
            } else {
                try matcher.matchAll(rows, &counter)
            }
            matcher.finish()
            #expect(songs.matches.rowStates == [.stored, .stored, .missing])
            #expect(songs.matches.isScanned)
            let name = try #require(songs.hierarchy.attributes.firstIndex { $0.name == "name" })
            #expect(songs.matches.changed.columns(songs.matches.changed.mask(of: NodeID(0))) == [name])
            #expect(!songs.matches.changed.contains(NodeID(1)))
            #expect(try songs.entity(of: NodeID(0)) == sync.layout.model.entity(named: "Live").id)
            let index = try #require(songs.foreignKey(sync.layout.model.link("Song", "shelf").link.id))
            #expect(
                songs.matches.foreignKeys[index].targets == [LinkTarget(NodeID(0)), LinkTarget(NodeID(1)), .nowhere])
            #expect(songs.matches.foreignKeys[index].positions == [4, 4, nil])
            #expect(songs.matches.unmatchedRows.rows.map(\.key) == [.integer(4)])
            #expect(songs.matches.unmatchedRows.references.map(\.target) == [NodeID(0)])
            #expect(matcher.danglingCandidates.values.map(\.second) == [[.integer(9)]])
        }
    }

    @Test("A row of an entity that the model lacks is rejected")
    func rejectsUnknownEntity() throws {
        try with { sync in
            var matcher = RowMatcher(sync.songs, .match, sync.lookups, columns: sync.columns)
            let rows = ListedRows([try sync.row(1, "Bird", name: "a")])
            var counter = ProgressCounter(ProgressReporter(nil))
            #expect(throws: SyncError.self) { try matcher.matchAll(rows, &counter) }
        }
    }

    @Test("Stored join rows are compared with asserted ones")
    func comparesJoinRows() throws {
        try with { sync in
            let link = try sync.layout.model.link("Song", "tags").link
            for table in sync.tables { table.matches.rowStates = table.nodes.map { _ in .stored } }
            let ends = (sync.tables[link.first.table], sync.tables[link.second.table])
            let asserted = ResolvedJoinRows(
                LinkAssertions(
                    sync.graph[link.id], of: link, in: sync.graph.model, EffectiveRecords(sync.graph.occurrences),
                    first: .init(states: ends.0.matches.rowStates, entities: ends.0.matches.entities),
                    second: .init(states: ends.1.matches.rowStates, entities: ends.1.matches.entities)))
            var matcher = JoinRowMatcher(
                asserted, of: link, ends, sync.lookups, columns: sync.columns, collectingUnmatchedEnds: true)
            #expect(matcher.replacedCount == 1 && matcher.unreplacedRows().isEmpty)
            let isSongFirst = link.first.table == sync.songs.id
            let rows = ListedRows(
                [(3, 6), (3, 9), (1, 5)].map { (song: Int64, tag: Int64) -> [RowKey?] in
                    let keys: [RowKey?] = [.integer(song), .integer(tag)]
                    return (isSongFirst ? keys : keys.reversed()) + [nil, nil]
                })
            var counter = ProgressCounter(ProgressReporter(nil))
            try matcher.compareAll(rows, isOrdered: false, &counter)
            #expect(matcher.asserted.rows.map(\.isStored) == [false, true])
            let removed = matcher.compared.removed.map { isSongFirst ? $0.rows.second : $0.rows.first }
            #expect(removed == [.integer(9)])
            #expect(matcher.unmatchedEnds.first.union(matcher.unmatchedEnds.second) == [.integer(9)])
        }
    }

    @Test("The values of a new row are bound in the order of its columns")
    func bindsRow() throws {
        try with { sync in
            let columns = sync.columns(sync.songs.id)
            let parameters = BoundParameters()
            sync.songs.foreignKeys = sync.songs.hierarchy.foreignKeys.map { _ in
                ResolvedForeignKeys(targets: sync.songs.nodes.map { _ in .nowhere })
            }
            NodeBinding(sync.songs, columns, sync.tables).bindRow(of: NodeID(1), to: parameters, 10)
            #expect(parameters.values.keys.min() == 11)
            #expect(parameters.values[11] == .integer(1))
            #expect(parameters.values[10 + (columns.entity ?? 0) + 1] == .text("Song"))
            let name = try #require(sync.songs.hierarchy.attributes.firstIndex { $0.name == "name" })
            #expect(parameters.values[10 + columns.index(of: .attribute(name)) + 1] == .text("a"))
            #expect(parameters.values[10 + columns.index(of: .foreignKey(0)) + 1] == .some(nil))
        }
    }
}

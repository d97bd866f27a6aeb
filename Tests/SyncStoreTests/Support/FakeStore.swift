import SyncCore
import Testing

@testable import SyncStore

/// A store in dictionaries that records its operations.
final class FakeStore: StoreSession {
    /// Each operation with its rows, for example `links of 1, 2 from first`.
    private(set) var operations: [String] = []

    /// The links of each association, with their positions.
    private var pairs: [AssociationID: [JoinKey: LinkPositions]] = [:]
    private var kept: [AssociationID: [CompiledAssociation.End: [RowKey: [Int64]]]] = [:]
    var identities: [StoredRow: StoredIdentity] = [:]
    var values: [StoredRow: StoredValues] = [:]
    var scratch: [String: Int] = [:]

    /// Returns the operations since the last call.
    func takeOperations() -> [String] {
        defer { operations = [] }
        return operations
    }

    func record(_ operation: String) { operations.append(operation) }

    // MARK: Links

    func link(_ first: Int64, _ second: Int64, _ link: CompiledAssociation, _ places: LinkPositions = LinkPositions()) {
        pairs[link.id, default: [:]][.of(first, second)] = places
    }

    func keep(_ places: [Int64], in owner: RowKey, _ link: CompiledAssociation, _ end: CompiledAssociation.End) {
        kept[link.id, default: [:]][end, default: [:]][owner] = places
    }

    /// Describes the links of an association, for example `1–2 at 0, 3`, with `-` for no position.
    func pairs(_ link: CompiledAssociation) -> [String] {
        (pairs[link.id] ?? [:]).map { "\($0.text)\($1.text)" }.sorted()
    }

    func links(of rows: [RowKey], _ link: CompiledAssociation, from end: CompiledAssociation.End) -> [StoredLink] {
        record("links of \(rows.text) from \(end)")
        return rows.flatMap { row in
            (pairs[link.id] ?? [:]).filter { $0.key.row(end) == row }.map {
                StoredLink(row: row, other: $0.row(end.other), position: $1[end], otherPosition: $1[end.other])
            }
        }
    }

    func stored(_ pairs: [JoinKey], _ link: CompiledAssociation) -> Set<JoinKey> {
        record("stored \(pairs.text)")
        return Set(pairs.filter { self.pairs[link.id]?[$0] != nil })
    }

    func nextPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) -> [Int64] {
        record("free places of \(owners.text)")
        return owners.map { owner in
            let taken = (pairs[link.id] ?? [:]).filter { $0.key.row(end) == owner }.compactMap { $0.value[end] }
            return ((taken + (kept[link.id]?[end]?[owner] ?? [])).max() ?? -1) + 1
        }
    }

    func reservedPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End)
        -> [[Int64]]
    {
        record("kept places of \(owners.text)")
        return owners.map { kept[link.id]?[end]?[$0] ?? [] }
    }

    func setForeignKeys(_ changes: [ForeignKeyUpdate], _ link: CompiledAssociation) {
        record("set targets of \(changes.map(\.row).text)")
        for change in changes {
            let old = (pairs[link.id] ?? [:]).keys.filter { $0.first == change.row }
            for pair in old { pairs[link.id]?[pair] = nil }
            guard let target = change.target else { continue }
            pairs[link.id, default: [:]][JoinKey(first: change.row, second: target)] = LinkPositions(
                second: change.position)
        }
    }

    func insert(_ pairs: [JoinRow], _ link: CompiledAssociation) {
        record("insert \(pairs.map(\.rows).text)")
        for pair in pairs {
            #expect(self.pairs[link.id]?[pair.rows] == nil, "inserted twice")
            self.pairs[link.id, default: [:]][pair.rows] = pair.positions
        }
    }

    func remove(_ pairs: [JoinKey], _ link: CompiledAssociation) {
        record("remove \(pairs.text)")
        for pair in pairs { self.pairs[link.id]?[pair] = nil }
    }

    func setPositions(
        _ positions: [(key: JoinKey, position: Int64)], _ link: CompiledAssociation, _ end: CompiledAssociation.End
    ) {
        record("set places of \(positions.map(\.key).text) at \(end)")
        for (pair, position) in positions { pairs[link.id]?[pair]?[end] = position }
    }

    // MARK: Rows

    func identities(of rows: [RowKey], in table: TableID) -> [StoredIdentity?] {
        record("identities of \(rows.text)")
        return rows.map { identities[StoredRow(table: table, key: $0)] }
    }

    func referencesToOtherRows(among references: [PendingReference]) -> [PendingReference] { [] }

    func rows(withKeys keys: [RowKey], of entity: CompiledEntity) -> [RowKey?] {
        record("rows with the keys \(keys.text)")
        return keys.map { key in
            identities.first { $0.key.table == entity.table && ($0.value.key ?? $0.key.key) == key }?.key.key
        }
    }

    func values(of rows: [RowKey], in table: TableID) -> [StoredValues?] {
        record("values of \(rows.text)")
        return rows.map { values[StoredRow(table: table, key: $0)] }
    }
}

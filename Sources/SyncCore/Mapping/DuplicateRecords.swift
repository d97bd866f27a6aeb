/// Compares duplicate records and counts inconsistent ones. A record is a duplicate if an earlier record describes the
/// same row.
struct DuplicateRecords {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// A statement about the links of a row, by the record with the number `record`.
    struct LinkStatement {
        /// The association, and the end of the row that the statement is about.
        struct Side: Hashable {
            let link: AssociationID
            let end: CompiledAssociation.End
        }

        let side: Side
        let sequence: UInt32
        let record: Int32
        /// The entity with the relationship (`entity`), and the index of the relationship in it (`index`).
        let entity: Int
        let index: Int

        init(_ statement: LinkAssertionBuilder, record: Int32, entity: Int, index: Int) {
            side = Side(link: statement.link, end: statement.end)
            sequence = statement.sequence
            self.record = record
            self.entity = entity
            self.index = index
        }
    }

    /// The merged values of rows with several records. They are only used if the graph stores each record as a separate
    /// version (``NodeBatch``).
    private struct AssertedRows {
        /// The index in `slots` of each node's first value; -1 for a node with one record.
        var slotOffsets: [Int] = []
        var slots: [PackedValue] = []
    }

    /// The largest number of rows with inconsistent records that the graph lists.
    static let rowLimit = SyncResult.diagnosticLimit

    /// Finds the paths of inconsistent records in a second mapping; nil in the first mapping.
    private var finder: InconsistentRecordFinder?
    let hasFinder: Bool
    /// Whether the graph stores each record of a row as a separate version (``NodeBatch``).
    private let keepsOccurrences: Bool
    /// The number of duplicate records so far.
    private var count: Int32 = 0
    /// The numbers of the duplicate records that are inconsistent with an earlier record.
    private var contradicting: Set<Int32> = []
    /// The rows whose first record is inconsistent with a record of the same row that is nested in it.
    private var contradictingFirst: Set<PayloadGraph.RowReference> = []
    /// The slots of each row that have different values in its records. Each later value in such a slot differs from an
    /// earlier value.
    private var contestedSlots: [PayloadGraph.RowReference: Set<Int>] = [:]
    /// The link statements of duplicate records, in document order.
    private var links: [LinkStatement] = []
    private var assertedRows: [AssertedRows] = []

    init(_ finder: InconsistentRecordFinder?, areKeptApart: Bool) {
        self.finder = finder
        hasFinder = finder != nil
        self.keepsOccurrences = areKeptApart
    }

    mutating func add(_ statement: LinkStatement) { links.append(statement) }

    /// Calls `body` with the merged values of a row's earlier records, and then merges `values` into them.
    ///
    /// - Parameter first: The values of the row's first record.
    private mutating func adding(
        _ values: UnsafeBufferPointer<PackedValue>, to row: PayloadGraph.RowReference,
        startingAs first: ArraySlice<PackedValue>,
        _ body: (UnsafeBufferPointer<PackedValue>) -> Void
    ) {
        let (table, node) = (row.table.index, row.node.index)
        while assertedRows.count <= table { assertedRows.append(AssertedRows()) }
        let missing = node + 1 - assertedRows[table].slotOffsets.count
        if missing > 0 {
            assertedRows[table].slotOffsets += repeatElement(
                -1, count: max(missing, assertedRows[table].slotOffsets.count))
        }
        if assertedRows[table].slotOffsets[node] < 0 {
            assertedRows[table].slotOffsets[node] = assertedRows[table].slots.count
            assertedRows[table].slots += first
        }
        let start = assertedRows[table].slotOffsets[node]
        assertedRows[table].slots.withUnsafeBufferPointer {
            body(UnsafeBufferPointer(rebasing: $0[start..<start + values.count]))
        }
        for slot in values.indices where values[slot].kind != .absent {
            assertedRows[table].slots[start + slot] = values[slot]
        }
    }
}

extension TextPool {
    /// Returns whether two values are present and different.
    func differ(_ one: PackedValue, _ other: PackedValue) -> Bool {
        if one.kind == .absent || other.kind == .absent { return false }
        if one.isText, other.isText { return !TextPool.equal(bytes(one), bytes(other)) }
        if one.kind == .arenaBlob, other.kind == .arenaBlob { return !TextPool.equal(bytes(one), bytes(other)) }
        return one.kind != other.kind || one.bits != other.bits
    }

    /// Returns the slots in which a record differs from the earlier records of its row.
    ///
    /// - Parameters:
    ///   - row: The values of the record.
    ///   - earlier: The merged values of the earlier records.
    ///   - contested: The slots in which the earlier records already differ from each other; nil if there are none.
    func differingSlots(
        _ row: UnsafeBufferPointer<PackedValue>, _ earlier: UnsafeBufferPointer<PackedValue>, _ contested: Set<Int>?
    ) -> [Int] {
        var found: [Int] = []
        for slot in 0..<min(row.count, earlier.count) {
            if differ(row[slot], earlier[slot]) {
                found.append(slot)
            } else if let contested, row[slot].kind != .absent, contested.contains(slot) {
                found.append(slot)
            }
        }
        return found
    }
}

/// Finds the paths and values of inconsistent records, for rows that are known to have them.
struct InconsistentRecordFinder {
    /// A difference between two records of a row: an attribute or relationship, and its value in each record. `record`
    /// and `earlier` are indexes in `records`.
    struct Found {
        let record: Int32
        let earlier: Int32
        let name: String
        let value: String
        let earlierValue: String
    }

    private struct Source {
        let path: String
        let entity: String
        let key: String?
    }

    private struct Member: Hashable {
        let row: PayloadGraph.RowReference
        let name: String
    }

    let rows: Set<PayloadGraph.RowReference>
    private var records: [Source] = []
    /// The different values of each member, each with the last record that has the value.
    private var assertedValues: [Member: [(value: String, record: Int32)]] = [:]
    private var found: [Found] = []

    var lastRecord: Int32 { Int32(truncatingIfNeeded: records.count - 1) }

    init(_ rows: Set<PayloadGraph.RowReference>) { self.rows = rows }

    mutating func add(
        _ path: String, entity: String, key: String?, of row: PayloadGraph.RowReference,
        values: some Sequence<(name: String, value: String)>
    ) {
        records.append(Source(path: path, entity: entity, key: key))
        for (name, value) in values {
            let member = Member(row: row, name: name)
            var known = assertedValues.removeValue(forKey: member) ?? []
            if let earlier = known.last(where: { $0.value != value }) {
                add(
                    Found(
                        record: lastRecord, earlier: earlier.record, name: name, value: value,
                        earlierValue: earlier.value))
            }
            known.removeAll { $0.value == value }
            known.append((value, lastRecord))
            assertedValues[member] = known
        }
    }

    mutating func add(_ contradiction: Found) { found.append(contradiction) }

    /// The inconsistent records, in document order. All differences between two records are combined.
    var inconsistentRecordCount: [RecordInconsistency] {
        var result: [RecordInconsistency] = []
        var last: (Int32, Int32)?
        for one in found.enumerated().sorted(by: {
            ($0.element.record, $0.element.earlier, $0.offset) < ($1.element.record, $1.element.earlier, $1.offset)
        }).map(\.element) {
            let difference = RecordInconsistency.Difference(
                name: one.name, value: one.value, earlierValue: one.earlierValue)
            if let last, last == (one.record, one.earlier) {
                result[result.count - 1].differences.append(difference)
                continue
            }
            last = (one.record, one.earlier)
            let (place, earlier) = (records[Int(one.record)], records[Int(one.earlier)])
            result.append(
                RecordInconsistency(
                    entity: place.entity, key: place.key, path: place.path, earlierPath: earlier.path,
                    differences: [difference]))
        }
        return result
    }
}

// MARK: - Comparing

extension DuplicateRecords {
    /// Compares the values of a duplicate record with those of the earlier records of its row.
    ///
    /// - Returns: The number of the record among the duplicate records, from 1.
    @inline(never)
    mutating func add(
        _ row: PayloadGraph.RowReference, _ values: UnsafeBufferPointer<PackedValue>, _ graph: inout PayloadGraph,
        _ bytes: Bytes
    ) -> Int32 {
        count += 1
        let table = row.table.index
        let values = graph.rows[table].storedValues(of: values)
        let indexes = graph.rows[table].indexes(
            ofVersion: Int(graph.rows[table].nodes[row.node.index].firstVersion))
        let contested = contestedSlots.isEmpty ? nil : contestedSlots[row]
        var found: [Int] = []
        graph.arena.withUnsafeBufferPointer { arena in
            let pool = TextPool(payload: bytes, arena: arena)
            if keepsOccurrences {
                adding(values, to: row, startingAs: graph.rows[table].slots[indexes]) {
                    found = pool.differingSlots(values, $0, contested)
                }
            } else {
                graph.rows[table].slots.withUnsafeBufferPointer {
                    let earlier = UnsafeBufferPointer(rebasing: $0[indexes])
                    found = pool.differingSlots(values, earlier, contested)
                }
            }
        }
        guard !found.isEmpty else { return count }
        contestedSlots[row, default: []].formUnion(found)
        recordInconsistency(of: row, by: count, &graph)
        return count
    }

    /// Counts an inconsistent record.
    ///
    /// - Parameter record: The number of the duplicate record; nil for the first record of the row. The first record
    ///   can be inconsistent with a duplicate that is nested in it, because some of its links follow the nested record.
    private mutating func recordInconsistency(
        of row: PayloadGraph.RowReference, by record: Int32?, _ graph: inout PayloadGraph
    ) {
        if let record { contradicting.insert(record) } else { contradictingFirst.insert(row) }
        if graph.contestedRows.count < Self.rowLimit { graph.contestedRows.insert(row) }
    }

    // MARK: Links

    /// The links that one statement gives a node.
    private struct AssertedTargets {
        let node: NodeID
        let sequence: UInt32
        /// The nodes that the statement links to `node`, in ascending order for a list.
        var targets: [NodeID]
    }

    /// Compares the link statements of each row's records. Call this after all records are mapped.
    mutating func compareLinks(_ graph: inout PayloadGraph) {
        for (side, links) in Dictionary(grouping: links, by: \.side) {
            let end = graph.model[side.link].side(side.end)
            let rows = end.isToMany ? Self.contestedLists(side, graph) : Self.contestedStatements(side, graph)
            for row in rows { compare(row, links, end.table, &graph) }
        }
        if let finder { graph.inconsistencies = finder.inconsistentRecordCount }
        graph.inconsistentRecordCount = contradicting.count + contradictingFirst.count
    }

    /// Returns the statements of a to-one relationship for each row whose statements differ, in document order.
    private static func contestedStatements(_ side: LinkStatement.Side, _ graph: PayloadGraph) -> [[AssertedTargets]] {
        let (batch, end) = (graph[side.link], side.end)
        let table = graph.model[side.link].side(end).table
        // Most rows have one statement or equal ones. The first pass finds the other rows without storing statements.
        var targets = [Int](repeating: -2, count: graph.rows[table.index].nodes.count)
        var contested: [NodeID: [AssertedTargets]] = [:]
        statements(of: batch, end) { node, _, target in
            let target = target?.index ?? -1
            let known = targets[node.index]
            if known == -2 { targets[node.index] = target } else if known != target { contested[node] = [] }
        }
        guard !contested.isEmpty else { return [] }
        statements(of: batch, end) { node, sequence, target in
            contested[node]?.append(AssertedTargets(node: node, sequence: sequence, targets: target.map { [$0] } ?? []))
        }
        return contested.values.map { $0.sorted { $0.sequence < $1.sequence } }
    }

    private static func statements(
        of batch: LinkBatch, _ end: CompiledAssociation.End,
        _ body: (_ node: NodeID, _ sequence: UInt32, _ target: NodeID?) -> Void
    ) {
        for link in batch.assertions where link.assertedBy == end && link.position < 0 {
            let (node, target) = end == .first ? (link.first, link.second) : (link.second, link.first)
            body(node, link.sequence, target)
        }
        for none in batch.replacements where none.end == end { body(none.node, none.sequence, nil) }
    }

    /// Returns the replaced lists of each row that has several, in document order. A list that replaces nothing only
    /// adds links, so it cannot be inconsistent with another list.
    private static func contestedLists(_ side: LinkStatement.Side, _ graph: PayloadGraph) -> [[AssertedTargets]] {
        let (batch, end) = (graph[side.link], side.end)
        let table = graph.model[side.link].side(end).table
        var isListed = [Bool](repeating: false, count: graph[table].nodes.count)
        var lists: [NodeID: [UInt32: [NodeID]]] = [:]
        for list in batch.replacements where list.end == end {
            if isListed[list.node.index] { lists[list.node] = [:] }
            isListed[list.node.index] = true
        }
        guard !lists.isEmpty else { return [] }
        for list in batch.replacements where list.end == end { lists[list.node]?[list.sequence] = [] }
        for link in batch.assertions where link.assertedBy == end {
            let (node, target) = end == .first ? (link.first, link.second) : (link.second, link.first)
            lists[node]?[link.sequence]?.append(target)
        }
        return lists.map { node, lists in
            lists.map { AssertedTargets(node: node, sequence: $0, targets: Set($1).sorted { $0.index < $1.index }) }
                .sorted { $0.sequence < $1.sequence }
        }
    }

    private mutating func compare(
        _ row: [AssertedTargets], _ links: [LinkStatement], _ table: TableID, _ graph: inout PayloadGraph
    ) {
        for (index, asserted) in row.enumerated() {
            guard let earlier = row[..<index].last(where: { $0.targets != asserted.targets }) else { continue }
            let statement = Self.statement(asserted.sequence, links)
            if finder != nil {
                if let statement, let before = Self.statement(earlier.sequence, links) {
                    finder?.add(statement, before.record, asserted.targets, earlier.targets, graph)
                }
            } else {
                recordInconsistency(of: .init(table: table, node: asserted.node), by: statement?.record, &graph)
            }
        }
    }

    private static func statement(
        _ sequence: UInt32, _ links: [LinkStatement]
    ) -> LinkStatement? {
        var range = links.indices
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if links[middle].sequence == sequence { return links[middle] }
            range = links[middle].sequence < sequence ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    // MARK: Watching

    /// Returns whether the finder records the paths of a row's records.
    func watches(_ row: PayloadGraph.RowReference) -> Bool { finder?.rows.contains(row) == true }

    /// Records the path of a record, and its differences from the earlier records of its row.
    ///
    /// - Returns: The index of the record in the finder; -1 without a finder.
    mutating func addWatched(
        _ row: PayloadGraph.RowReference, _ values: UnsafeBufferPointer<PackedValue>, of entity: CompiledEntity,
        at path: String,
        _ graph: PayloadGraph, _ bytes: Bytes
    ) -> Int32 {
        let attributes = graph.model[row.table].attributes
        let key = graph[row.table].nodes[row.node.index].key
        graph.arena.withUnsafeBufferPointer { arena in
            let pool = TextPool(payload: bytes, arena: arena)
            let name = RowKey(key, pool)?.recordKey(graph.model.keyType(of: entity.id)).description
            finder?.add(
                path, entity: entity.name, key: name, of: row,
                values: values.indices.lazy.filter { values[$0].kind != .absent }.map { slot in
                    let attribute = attributes[slot]
                    let value = StoredValue(values[slot], as: attribute.type, pool)?.jsonForm ?? .null
                    return (name: attribute.name, value: String(decoding: JSONText.bytes(of: value), as: UTF8.self))
                })
        }
        return finder?.lastRecord ?? -1
    }
}

extension InconsistentRecordFinder {
    /// Adds a difference: the record of `statement` links other rows than an earlier record of the same row.
    fileprivate mutating func add(
        _ statement: DuplicateRecords.LinkStatement, _ earlier: Int32, _ targets: [NodeID], _ earlierTargets: [NodeID],
        _ graph: PayloadGraph
    ) {
        let model = graph.model
        let table = model[statement.side.link].side(statement.side.end.other).table
        let isToMany = model[statement.side.link].side(statement.side.end).isToMany
        func text(_ node: NodeID) -> String {
            let known = graph[table].nodes[node.index]
            return graph.withTexts {
                RowKey(known.key, $0)?.recordKey(model.keyType(of: Int(known.entity))).description
            }
                ?? "a row without a key"
        }
        func text(_ nodes: [NodeID]) -> String {
            isToMany ? "[\(TruncatedList(nodes.map(text)).text)]" : nodes.first.map(text) ?? "null"
        }
        add(
            .init(
                record: statement.record, earlier: earlier,
                name: model.entities[statement.entity].relationships[statement.index].name,
                value: text(targets), earlierValue: text(earlierTargets)))
    }
}

extension PayloadGraph {
    /// Returns whether two values are present and different. The function is mutating so that the call does not copy
    /// the graph.
    mutating func differ(_ one: PackedValue, _ other: PackedValue, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        arena.withUnsafeBufferPointer { TextPool(payload: bytes, arena: $0).differ(one, other) }
    }

    /// Adds the diagnostics of inconsistent records up to the limit, and counts the rest as omitted.
    mutating func add(_ found: [RecordInconsistency], revealing: Bool) {
        let room = max(0, SyncResult.diagnosticLimit - diagnostics.count)
        diagnostics += found.prefix(room).map { $0.diagnostic(revealing: revealing) }
        omittedDiagnosticCount += max(0, found.count - room)
    }
}

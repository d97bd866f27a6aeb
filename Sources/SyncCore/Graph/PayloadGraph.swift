package import Foundation

/// All nodes, link assertions and replaced lists of a payload.
///
/// Mapping creates the graph without reading the store, and the store compares it with the stored rows. The graph does
/// not change after mapping. Functions such as ``ofPart()`` return a changed copy.
package struct PayloadGraph: Sendable {
    /// One place of a record in the payload. Occurrences are tracked only if the store can reject records, or if there
    /// is an insert hook.
    package struct RecordOccurrence: Sendable {
        package var table: TableID
        /// The occurrence of the enclosing record; -1 if there is none.
        package var parent: Int32
        /// The node of the record; nil for a skipped record, whose nested records can still be effective. `permission`
        /// is the next property because it fits into the padding of the optional.
        package var node: NodeID?
        package var permission: AllowedOperations
        /// The location of the record in the enclosing record.
        var location: Location

        /// The key under which a record is nested, and its index in a list or among the root records. `offset` and
        /// `length` are the byte range of the key in the payload. `table` is the index of the key table for the object
        /// with the key. For a root record, `length` is negative, and `table` is the index of its list, or -1.
        struct Location: Sendable {
            var offset: Int
            var length: Int32
            var table: Int32
            /// The index of the record; -1 outside of lists.
            var index: Int32

            /// The value of `table` if the key is the object key of the record.
            static let nameTable: Int32 = -2
        }
    }

    /// The parent whose children the payload lists.
    package struct Parent: Sendable {
        package var link: AssociationID
        /// The end of the association that the parent is at.
        package var end: CompiledAssociation.End
        package var table: TableID
        package var node: NodeID
    }

    /// A node, with the table of its batch.
    package struct RowReference: Sendable, Hashable {
        package var table: TableID
        package var node: NodeID

        package init(table: TableID, node: NodeID) {
            self.table = table
            self.node = node
        }
    }

    /// A list of root records. Its scope is the rows of its entity, unless a predicate or a parent sets the scope.
    package struct RootList: Sendable {
        package let entity: Int
        /// Whether the list is a single object or null, outside an array. It deletes no other rows of its entity,
        /// unless a predicate or a parent sets the scope.
        package internal(set) var isSingleRecord = false
        /// The number of records (`records`), and of records with a readable key (`readable`).
        var records = 0
        var readable = 0
        /// The number of records with an unreadable key (`unreadable`), and the path of the first (`firstUnreadable`).
        /// Such a record can describe any row.
        package internal(set) var unreadable = 0
        package internal(set) var firstUnreadable = ""
    }

    /// A root record without a readable key, for an error message.
    struct KeylessRecord: Sendable {
        let entity: Int
        let path: String
    }

    package let model: CompiledModel
    /// The entity of the payload, or of the first list if the payload has several.
    package let entity: Int
    /// The lists of root records. In a plain payload (``PayloadLayout/isPlain``), `records` and `readable` are not
    /// counted.
    package internal(set) var roots: [RootList]
    /// The first part of the paths of each list's records; empty for a plain payload (``PayloadLayout/isPlain``).
    var labels: [String] = []
    /// The pagination information of the payload.
    package internal(set) var page = PaginationInfo()
    package let operations: SyncOperations
    /// One batch for each inheritance hierarchy of the model.
    package internal(set) var rows: [NodeBatch]
    /// One batch for each association of the model.
    package internal(set) var links: [LinkBatch]
    package internal(set) var occurrences: [RecordOccurrence] = []
    /// The path of each occurrence; empty if there is no insert hook.
    var recordPaths: [RecordPath] = []
    package internal(set) var parent: Parent?
    /// The nodes of keyless rows, owners first.
    package internal(set) var ownedRows: [RowReference] = []
    /// Whether the payload is a snapshot of its scope.
    package internal(set) var isComplete = true
    /// The number of root records in the chunks before this one.
    var firstRecord = 0
    /// The paths of the lists in a single object without a key. An error suggests them as key paths.
    var listPaths: [[String]] = []
    /// The key path to the object with the lists in `listPaths`; nil if it is the key path of the options.
    var fieldPath: [String]?
    package internal(set) var rootRecords = 0
    /// The number of root records with a readable key.
    package internal(set) var readableRootRecords = 0
    /// The first root record without a readable key.
    var firstKeyless: KeylessRecord?
    /// The number of root records that describe the same row as an earlier root record.
    package internal(set) var duplicateRecordCount = 0
    /// The number of records, at any depth, that are inconsistent with an earlier or nested record of the same row.
    /// `contestedRows` has the rows of these records, up to a limit. After a second mapping, `inconsistencies` has the
    /// records with their paths.
    package internal(set) var inconsistentRecordCount = 0
    var contestedRows: Set<RowReference> = []
    var inconsistencies: [RecordInconsistency] = []
    package internal(set) var diagnostics: [SyncDiagnostic] = []
    package internal(set) var omittedDiagnosticCount = 0
    package internal(set) var unmappedKeys: [SyncDiagnostic] = []
    /// The path of the object that each key table describes; empty if occurrences are not tracked.
    var tablePaths: [[String]] = []
    package internal(set) var payload: Data
    package internal(set) var arena: [UInt8] = []

    package init(model: CompiledModel, entity: Int, operations: SyncOperations, payload: Data) {
        self.model = model
        self.entity = entity
        roots = [RootList(entity: entity)]
        self.operations = operations
        self.payload = payload
        rows = model.hierarchies.map { NodeBatch($0) }
        links = model.links.map { _ in LinkBatch() }
    }

    package internal(set) subscript(_ id: TableID) -> NodeBatch {
        _read { yield rows[id.index] }
        _modify { yield &rows[id.index] }
    }

    package internal(set) subscript(_ id: AssociationID) -> LinkBatch {
        _read { yield links[id.index] }
        _modify { yield &links[id.index] }
    }

    /// Stores the number of nodes after the first half of the sample that estimates the size.
    mutating func recordSizes() {
        for table in rows.indices { rows[table].recordSize() }
    }

    /// Reserves capacity for a payload `factor` times as large as the sample, so that large arrays are not copied as
    /// they grow.
    mutating func reserve(_ factor: Double) {
        for table in rows.indices { rows[table].reserve(factor) }
        for link in links.indices { links[link].reserve(factor) }
        arena.reserveCapacity(Int(Double(arena.count) * factor))
        occurrences.reserveCapacity(Int(Double(occurrences.count) * factor))
    }

    /// Returns the graph for the end of a payload with this pagination information. If the document omits records, the
    /// result is the graph of a delta. Call this method on a graph without records.
    package func ending(_ page: PaginationInfo) -> PayloadGraph {
        var graph = self
        if page.isPart { graph.isComplete = false }
        return graph
    }

    /// Returns a copy that is the graph of a delta.
    package func ofPart() -> PayloadGraph {
        var graph = self
        graph.isComplete = false
        return graph
    }

    /// Returns a copy whose indexes in the parent's list follow those of earlier pages and chunks.
    ///
    /// - Parameter count: The number of root records in the earlier pages and chunks.
    package func following(_ count: Int) -> PayloadGraph {
        guard let parent, count > firstRecord else { return self }
        var graph = self
        let places = Int32(truncatingIfNeeded: count - firstRecord)
        for (index, assertion) in graph[parent.link].assertions.enumerated() where assertion.sequence == 0 {
            graph[parent.link].assertions[index].position += places
        }
        return graph
    }

    /// Returns the path of a record, such as `[3].notes[0]`; empty if occurrences are not tracked. The path omits keys
    /// inside a GraphQL connection, and the `attributes` of a JSON:API resource.
    package func path(of occurrence: Int, _ pool: TextPool) -> String {
        guard occurrences.indices.contains(occurrence) else { return "" }
        let location = occurrences[occurrence].location
        guard location.length >= 0 else { return rootPath(location, pool) }
        if location.table == RecordOccurrence.Location.nameTable {
            let name = pool.payloadText(at: location.offset, length: Int(location.length))
            return path(of: Int(occurrences[occurrence].parent), pool) + "[\"\(name)\"]"
        }
        let prefix = tablePaths.indices.contains(Int(location.table)) ? tablePaths[Int(location.table)] : []
        let key = pool.payloadText(at: location.offset, length: Int(location.length))
        let index = location.index < 0 ? "" : "[\(location.index)]"
        return path(of: Int(occurrences[occurrence].parent), pool) + "." + (prefix + [key]).joined(separator: ".")
            + index
    }

    private func rootPath(_ location: RecordOccurrence.Location, _ pool: TextPool) -> String {
        guard location.table >= 0 else { return "[\(firstRecord + Int(location.index))]" }
        let label = labels.indices.contains(Int(location.table)) ? labels[Int(location.table)] : ""
        let length = -2 - Int(location.length)
        guard length >= 0 else { return "\(label)[\(location.index)]" }
        return label + "[\"" + pool.payloadText(at: location.offset, length: length) + "\"]"
    }

    /// The primary key of the root record, for a payload of one record; nil if it has none.
    package var rootKey: RowKey? {
        guard let node = self[model.entities[entity].table].nodes.first(where: \.isRoot) else { return nil }
        return withTexts { RowKey(node.key, $0) }
    }

    /// Calls `body` with the text and blobs of the packed values.
    package func withTexts<Result>(_ body: (TextPool) throws -> Result) rethrows -> Result {
        try payload.withUnsafeBytes { raw in
            try arena.withUnsafeBufferPointer { arena in
                try body(TextPool(payload: raw.bindMemory(to: UInt8.self), arena: arena))
            }
        }
    }
}

/// The result of mapping a payload, or a chunk of it.
package struct MappedPayload: Sendable {
    /// The nodes and link assertions of the payload.
    package let graph: PayloadGraph
    /// Maps the payload again when an insert hook replaces records; nil without a hook.
    package let rewriting: InsertHookMapper?

    package init(_ graph: PayloadGraph, rewriting: InsertHookMapper? = nil) {
        self.graph = graph
        self.rewriting = rewriting
    }
}

/// One mapped chunk of a payload.
package struct GraphChunk: Sendable {
    package var payload: MappedPayload
    /// Whether this is the last chunk of the payload.
    package var isLast: Bool

    package init(_ payload: MappedPayload, isLast: Bool) {
        self.payload = payload
        self.isLast = isLast
    }
}

// MARK: - Merging

extension PayloadGraph {
    /// Returns a copy in which nodes of the same row are united.
    ///
    /// - Parameter nodes: The node to keep for each node to remove.
    package func merging(_ nodes: [RowReference: NodeID]) -> PayloadGraph {
        var merged = self
        merged.merge(nodes)
        return merged
    }

    private mutating func merge(_ nodes: [RowReference: NodeID]) {
        for (node, kept) in nodes.sorted(by: { ($0.key.table, $0.key.node) < ($1.key.table, $1.key.node) }) {
            self[node.table].absorb(node.node, into: kept)
        }
        func kept(_ node: NodeID, _ table: TableID) -> NodeID { nodes[RowReference(table: table, node: node)] ?? node }
        for link in links.indices {
            let (first, second) = (model.links[link].first.table, model.links[link].second.table)
            for index in links[link].assertions.indices {
                links[link].assertions[index].first = kept(links[link].assertions[index].first, first)
                links[link].assertions[index].second = kept(links[link].assertions[index].second, second)
            }
            for index in links[link].replacements.indices {
                let table = links[link].replacements[index].end == .first ? first : second
                links[link].replacements[index].node = kept(links[link].replacements[index].node, table)
            }
        }
        for index in occurrences.indices {
            occurrences[index].node = occurrences[index].node.map { kept($0, occurrences[index].table) }
        }
        ownedRows.removeAll { nodes[$0] != nil }
        for table in rows.indices {
            for (index, owner) in rows[table].owners.enumerated() {
                rows[table].setOwner(kept(owner.node, owner.table), at: index)
            }
        }
    }
}

// MARK: - Unlinking

extension PayloadGraph {
    /// Returns a copy whose replaced lists unlink omitted rows of these tables instead of deleting them.
    package func unlinking(_ tables: Set<TableID>) -> PayloadGraph {
        var graph = self
        for link in graph.links.indices {
            for index in graph.links[link].replacements.indices {
                let replacement = graph.links[link].replacements[index]
                let left = model.links[link].side(replacement.end.other).table
                if tables.contains(left) { graph.links[link].replacements[index] = replacement.with(kind: .unlink) }
            }
        }
        return graph
    }
}

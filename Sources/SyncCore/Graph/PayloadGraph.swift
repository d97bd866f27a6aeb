package import Foundation

/// What a payload asserts, worked out without asking the store: rows per entity, links, and what they replace.
///
/// Immutable once mapped: what a sync finds out makes another plan of it. The store compares it with the stored rows.
package struct PayloadGraph: Sendable {
    /// A record of the payload, kept where operations are restricted so that the store can tell which records count.
    package struct RecordOccurrence: Sendable {
        package var table: TableID
        /// The record it is nested in; -1 for a root record.
        package var parent: Int32
        /// Nil for a record that is skipped; what is nested in it counts all the same. Beside the permission, which fits
        /// into what an optional leaves of a word.
        package var node: NodeID?
        package var permission: AllowedOperations
        /// Where it stands in the record around it.
        var mark: Mark

        /// The key under which a record is nested, by the place of its text in the payload and the table of the object
        /// that has the key; and its index in a list, or as a root record.
        struct Mark: Sendable {
            var offset: Int
            var length: Int32
            var table: Int32
            /// -1 outside of lists.
            var index: Int32

            /// In the place of a table: the key is the name of a member that is a record.
            static let nameTable: Int32 = -2
        }
    }

    /// A parent whose rows the payload lists.
    package struct Parent: Sendable {
        package var link: AssociationID
        /// The end of the link at which the parent is.
        package var end: CompiledAssociation.End
        package var table: TableID
        package var node: NodeID
    }

    /// A row of one of the batches.
    package struct RowReference: Sendable, Hashable {
        package var table: TableID
        package var node: NodeID

        package init(table: TableID, node: NodeID) {
            self.table = table
            self.node = node
        }
    }

    /// A list of root records, which speaks for rows of its entity.
    package struct RootList: Sendable {
        package let entity: Int
        /// Whether the list is one object in no array: it says what it is, not what else there is.
        package internal(set) var isLoneObject = false
        /// How many records it has, and how many of them have a readable key.
        var records = 0
        var readable = 0
        /// How many of its records have a key that cannot be read, so that each may be of any row; and the path of the
        /// first of them.
        package internal(set) var unread = 0
        package internal(set) var firstUnreadable = ""
    }

    /// A root record without a readable key, for an error.
    struct KeylessRecord: Sendable {
        let entity: Int
        let path: String
    }

    package let model: CompiledModel
    /// The entity of the payload; where it has several, of the first list.
    package let entity: Int
    /// The lists of the payload. Their counts are kept where there are several.
    package internal(set) var roots: [RootList]
    /// How the paths of the records of each list begin, where there are several.
    var labels: [String] = []
    /// What the payload says of a next page.
    package internal(set) var page = PaginationInfo()
    package let operations: SyncOperations
    /// One per tree of the model.
    package internal(set) var rows: [NodeBatch]
    /// One per link of the model.
    package internal(set) var links: [LinkBatch]
    package internal(set) var mentions: [RecordOccurrence] = []
    /// Where each mention stands in the payload, if a hook may rewrite it.
    var recordPaths: [RecordPath] = []
    package internal(set) var parent: Parent?
    /// The rows known only by their owner, owners first.
    package internal(set) var ownedRows: [RowReference] = []
    /// Whether the payload is all there is of its scope.
    package internal(set) var isComplete = true
    /// How many root records are in the pieces before this one.
    var firstRecord = 0
    /// Where there are lists inside a lone object that has no key.
    var listPaths: [[String]] = []
    /// The key path that leads to it, where the reader found it by itself.
    var fieldPath: [String]?
    package internal(set) var rootRecords = 0
    /// How many root records have a readable key.
    package internal(set) var readableRootRecords = 0
    /// The first root record that has none.
    var firstKeyless: KeylessRecord?
    /// How many root records are of a row that an earlier one gave too.
    package internal(set) var repeatedRecords = 0
    /// How many records, at any depth, say something else of their row than an earlier one; of which rows, up to a limit;
    /// and where, if that is asked for.
    package internal(set) var contradictions = 0
    var contestedRows: Set<RowReference> = []
    var foundContradictions: [RecordInconsistency] = []
    package internal(set) var diagnostics: [SyncResult.Diagnostic] = []
    package internal(set) var omittedDiagnostics = 0
    package internal(set) var unmappedKeys: [SyncResult.UnmappedKey] = []
    /// The dotted paths of the objects that remote keys lead into, by key table; empty if mentions are not tracked.
    var tablePaths: [[String]] = []
    package internal(set) var payload: Data
    package internal(set) var arena: [UInt8] = []

    package init(model: CompiledModel, entity: Int, operations: SyncOperations, payload: Data) {
        self.model = model
        self.entity = entity
        roots = [RootList(entity: entity)]
        self.operations = operations
        self.payload = payload
        rows = model.trees.map { NodeBatch(stride: $0.attributes.count) }
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

    /// Called when half of a sample of the payload is mapped.
    mutating func recordSizes() {
        for table in rows.indices { rows[table].recordSize() }
    }

    /// Makes room for a payload that is `factor` times as large as the sample, so that nothing large is copied as it
    /// grows.
    mutating func reserve(_ factor: Double) {
        for table in rows.indices { rows[table].reserve(factor) }
        for link in links.indices { links[link].reserve(factor) }
        arena.reserveCapacity(Int(Double(arena.count) * factor))
        mentions.reserveCapacity(Int(Double(mentions.count) * factor))
    }

    /// The same plan, without records, at the end of a payload that says this of a next page.
    package func ending(_ page: PaginationInfo) -> PayloadGraph {
        var plan = self
        if page.isPart { plan.isComplete = false }
        return plan
    }

    /// The same plan of a payload that does not have all there is.
    package func ofPart() -> PayloadGraph {
        var plan = self
        plan.isComplete = false
        return plan
    }

    /// The same plan as that of a page whose records follow those of the pages before it, in the list of a parent too.
    ///
    /// - Parameter count: How many records those have.
    package func following(_ count: Int) -> PayloadGraph {
        guard let parent, count > firstRecord else { return self }
        var plan = self
        let places = Int32(truncatingIfNeeded: count - firstRecord)
        for (index, assertion) in plan[parent.link].assertions.enumerated() where assertion.sequence == 0 {
            plan[parent.link].assertions[index].position += places
        }
        return plan
    }

    /// The JSON path of a record, such as `[3].notes[0]`; empty where mentions are not tracked.
    package func path(of mention: Int, _ pool: TextPool) -> String {
        guard mentions.indices.contains(mention) else { return "" }
        let mark = mentions[mention].mark
        guard mark.length >= 0 else { return rootPath(mark, pool) }
        if mark.table == RecordOccurrence.Mark.nameTable {
            let name = pool.payloadText(at: mark.offset, length: Int(mark.length))
            return path(of: Int(mentions[mention].parent), pool) + "[\"\(name)\"]"
        }
        let prefix = tablePaths.indices.contains(Int(mark.table)) ? tablePaths[Int(mark.table)] : []
        let key = pool.payloadText(at: mark.offset, length: Int(mark.length))
        let index = mark.index < 0 ? "" : "[\(mark.index)]"
        return path(of: Int(mentions[mention].parent), pool) + "." + (prefix + [key]).joined(separator: ".") + index
    }

    private func rootPath(_ mark: RecordOccurrence.Mark, _ pool: TextPool) -> String {
        guard mark.table >= 0 else { return "[\(firstRecord + Int(mark.index))]" }
        let label = labels.indices.contains(Int(mark.table)) ? labels[Int(mark.table)] : ""
        let length = -2 - Int(mark.length)
        guard length >= 0 else { return "\(label)[\(mark.index)]" }
        return label + "[\"" + pool.payloadText(at: mark.offset, length: length) + "\"]"
    }

    /// The key of the root record of a payload of one; nil if it has none.
    package var rootKey: RowKey? {
        guard let node = self[model.entities[entity].table].nodes.first(where: \.isRoot) else { return nil }
        return withTexts { RowKey(node.key, $0) }
    }

    /// Gives `body` access to the texts of the slots.
    package func withTexts<Result>(_ body: (TextPool) throws -> Result) rethrows -> Result {
        try payload.withUnsafeBytes { raw in
            try arena.withUnsafeBufferPointer { arena in
                try body(TextPool(payload: raw.bindMemory(to: UInt8.self), arena: arena))
            }
        }
    }
}

/// A payload that is mapped.
package struct MappedPayload: Sendable {
    /// What it asserts.
    package let plan: PayloadGraph
    /// What maps it again as a hook rewrites its records; nil without a hook.
    package let rewriting: InsertHookMapper?

    package init(_ plan: PayloadGraph, rewriting: InsertHookMapper? = nil) {
        self.plan = plan
        self.rewriting = rewriting
    }
}

/// One piece of a payload, mapped.
package struct GraphChunk: Sendable {
    package var payload: MappedPayload
    /// Whether the payload ends with it.
    package var isLast: Bool

    package init(_ payload: MappedPayload, isLast: Bool) {
        self.payload = payload
        self.isLast = isLast
    }
}

// MARK: - Merging

extension PayloadGraph {
    /// The same plan with nodes that turned out to be the same row made one.
    ///
    /// - Parameter nodes: By the node to give up, the one to keep.
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
        for index in mentions.indices {
            mentions[index].node = mentions[index].node.map { kept($0, mentions[index].table) }
        }
        ownedRows.removeAll { nodes[$0] != nil }
        for table in rows.indices {
            for (place, owner) in rows[table].owners.enumerated() {
                rows[table].setOwner(kept(owner.node, owner.table), of: place)
            }
        }
    }
}

// MARK: - Unlinking

extension PayloadGraph {
    /// The same plan, in which lists unlink the rows of some tables that they leave out, and delete none.
    package func unlinking(_ tables: Set<TableID>) -> PayloadGraph {
        var plan = self
        for link in plan.links.indices {
            for index in plan.links[link].replacements.indices {
                let replacement = plan.links[link].replacements[index]
                let left = model.links[link].side(replacement.end.other).table
                if tables.contains(left) { plan.links[link].replacements[index] = replacement.with(kind: .unlink) }
            }
        }
        return plan
    }
}

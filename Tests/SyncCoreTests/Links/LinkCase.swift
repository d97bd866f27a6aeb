import Testing

@testable import SyncCore

/// A case of the link rule: what a payload states about one association, the stored links, and the resulting links.
/// Each end has rows 0 to 3. Row 1 is new and row 3 is missing.
struct LinkCase: CustomTestStringConvertible, Sendable {
    enum Statement {
        /// A record at this end references a row of the other end, by ID or as a nested object.
        case to(CompiledAssociation.End, Int, Int, byID: Bool = true)
        /// A record at this end has null for the relationship.
        case nowhere(CompiledAssociation.End, Int)
        /// A record at the second end lists rows of the first. Omitted rows are deleted, or only unlinked.
        case list(Int, [Int], deletes: Bool = true)
        /// A list whose records may be neither inserted nor updated. It keeps stored links and adds none.
        case keeping(Int, [Int])
        /// A record at the first end lists rows of the second by ID.
        case listAtFirst(Int, [Int])
    }

    struct Pair: Hashable, CustomStringConvertible {
        var first: Int
        var second: Int
        var description: String { "\(first)–\(second)" }
    }

    static let count = 4

    var name: String
    var kinds: [Kind] = [.toOne, .toMany]
    var stored: [Pair] = []
    var said: [Statement]
    var expected: Set<Pair>
    var testDescription: String { name }

    /// The associations for which the case holds.
    enum Kind: String, Sendable {
        /// Rows at the first end reference at most one row of the second.
        case toOne
        case oneToOne
        case toMany
    }

    init(
        _ name: String, of kinds: [Kind] = [.toOne, .toMany], stored: [(Int, Int)] = [], _ said: [Statement],
        is expected: [(Int, Int)]
    ) {
        self.name = name
        self.kinds = kinds
        self.stored = stored.map(Pair.init)
        self.said = said
        self.expected = Set(expected.map(Pair.init))
    }

    // MARK: Result

    func found(_ kind: Kind) throws -> Set<Pair> {
        let statements = try statements(kind)
        return kind == .toMany
            ? pairs(ResolvedJoinRows(statements)) : pairs(ResolvedForeignKeyTargets(statements, stored: storedTargets))
    }

    private var storedTargets: [LinkTarget] {
        var targets = Array(repeating: LinkTarget.nowhere, count: Self.count)
        for pair in stored { targets[pair.first] = LinkTarget(NodeID(pair.second)) }
        return targets
    }

    private func pairs(_ targets: ResolvedForeignKeyTargets) -> Set<Pair> {
        let pairs = targets.nodes.enumerated().compactMap { first, target in
            target.node.map { Pair(first: first, second: $0.index) }
        }
        return Set(pairs)
    }

    private func pairs(_ said: ResolvedJoinRows) -> Set<Pair> {
        var found = Set(
            said.rows.filter { !$0.onlyPreserves }.map { Pair(first: $0.first.index, second: $0.second.index) })
        for pair in stored {
            let (first, second) = (NodeID(pair.first), NodeID(pair.second))
            let stays = said.index(of: first, second) != nil || said.preserves(first, second)
            if stays { found.insert(pair) }
        }
        return found
    }

    // MARK: Link assertions

    func statements(_ kind: Kind) throws -> LinkAssertions {
        let model = try SyncModel(schemaData: Self.schema(kind)).compiled
        let link = try #require(model.links.first)
        let presence: [RowState] = [.stored, .new, .stored, .missing]
        let rows = LinkAssertions.Rows(states: presence, entities: [])
        // Record 0 is effective. Record 1, nested in it, is not.
        var records = EffectiveRecords([Self.mention(parent: -1), Self.mention(parent: 0)])
        records.effectiveOccurrences = [true, false]
        return LinkAssertions(batch, of: link, in: model, records, first: rows, second: rows)
    }

    private static func mention(parent: Int32) -> PayloadGraph.RecordOccurrence {
        .init(
            table: 0, parent: parent, node: 0, permission: .full,
            location: .init(offset: 0, length: 0, table: 0, index: 0))
    }

    private var batch: LinkBatch {
        var batch = LinkBatch()
        for (index, statement) in said.enumerated() { add(statement, UInt32(index + 1), to: &batch) }
        return batch
    }

    private func add(_ statement: Statement, _ sequence: UInt32, to batch: inout LinkBatch) {
        func assert(
            _ first: Int, _ second: Int, by end: CompiledAssociation.End, position: Int = -1, mention: Int32 = 0,
            byID: Bool
        ) {
            batch.assertions.append(
                .init(
                    first: NodeID(first), second: NodeID(second), sequence: sequence, position: Int32(position),
                    occurrence: mention, assertedBy: end, isListed: position >= 0, isByID: byID))
        }
        func replace(_ end: CompiledAssociation.End, _ node: Int, _ kind: LinkBatch.Replacement.Kind) {
            batch.replacements.append(
                .init(node: NodeID(node), end: end, kind: kind, sequence: sequence, occurrence: 0))
        }
        switch statement {
        case .to(.first, let first, let second, let byID): assert(first, second, by: .first, byID: byID)
        case .to(.second, let second, let first, let byID): assert(first, second, by: .second, byID: byID)
        case .nowhere(let end, let node): replace(end, node, .unlink)
        case .list(let owner, let rows, let deletes):
            for (place, row) in rows.enumerated() { assert(row, owner, by: .second, position: place, byID: !deletes) }
            replace(.second, owner, deletes ? .delete : .unlink)
        case .keeping(let owner, let rows):
            for (place, row) in rows.enumerated() {
                assert(row, owner, by: .second, position: place, mention: 1, byID: false)
            }
            replace(.second, owner, .delete)
        case .listAtFirst(let owner, let rows):
            for (place, row) in rows.enumerated() { assert(owner, row, by: .first, position: place, byID: true) }
            replace(.first, owner, .unlink)
        }
    }

    private static func schema(_ kind: Kind) -> String {
        let (first, second) =
            switch kind {
            case .toOne: ("false", "true")
            case .oneToOne: ("false", "false")
            case .toMany: ("true", "true")
            }
        return """
            { "entities": {
              "A": { "attributes": { "id": "integer" },
                     "relationships": { "b": { "entity": "B", "inverse": "a", "many": \(first), "ordered": \(first) } } },
              "B": { "attributes": { "id": "integer" },
                     "relationships": { "a": { "entity": "A", "inverse": "b", "many": \(second), "ordered": \(second) } } } } }
            """
    }
}

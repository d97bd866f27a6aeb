import SyncCore

/// What a sync knows of one table's rows while it runs: the plan's nodes, met with what is stored.
struct TreeState {
    /// A stored row that the payload does not mention, seen while matching.
    struct Stray {
        var key: RowKey
        var entity: Int
        /// Whether it turned out to be a node that met its row through its owner.
        var isNode = false
    }

    /// A stray that points to a node.
    struct StrayLink {
        var stray: Int
        var link: Int
        var target: Int32
    }

    let tree: Int
    /// Columns per node in `dirty`: attributes, then foreign keys, then their orders.
    let columnCount: Int
    let words: Int

    var presence: [RowPresence]
    /// The entity each stored row is of, for others the node's own; empty where the tree has one only.
    private var entities: [Int32]
    private let root: Int
    /// Which version's values count for each node: its place in the batch's versions, beyond them in `merged`,
    /// or -1 for none.
    var values: [Int32]
    /// Values merged from several versions.
    var merged: [Slot] = []
    /// A bit per column that must be written; empty as long as there is none.
    private var dirty: [UInt64] = []
    /// The row keys of nodes that do not have them in their slot: hidden keys and local keys.
    var rowKeys: [Int32: RowKey] = [:]
    var nodeByHiddenKey: [Int64: Int32] = [:]
    /// Rows met through their owners, and new ones with local keys.
    var ownedNodes: [RowKey: Int32] = [:]
    /// Whether every stored row was looked at.
    var isScanned = false
    /// Per foreign key link of this tree (by position in `EntityTree.foreignKeys`), what is stored and what shall be, as in
    /// ``LinkTargets``.
    var storedTargets: [[Int32]]
    var storedOrders: [[Int64]]
    var targets: [[Int32]]
    var orders: [[Int64]]
    /// Targets that are rows of hidden-key tables, until those are matched.
    var rawTargets: [[Int64]]
    /// Targets that no key of the payload names, where they may turn out to be rows met through their owners.
    var unnamedTargets: [[Int32: RowKey]]
    /// The targets the payload gives, guessed to be the stored ones.
    var expectedTargets: [[Int32]]
    var strays: [Stray] = []
    var strayLinks: [StrayLink] = []
    var refused: Set<Int32> = []

    static let noOrder = Int64.min

    init(_ tree: EntityTree, _ batch: RowBatch) {
        self.tree = tree.id
        let count = batch.nodes.count
        columnCount = tree.attributes.count + 2 * tree.foreignKeys.count
        words = (columnCount + 63) / 64
        presence = Array(repeating: .missing, count: count)
        entities = tree.hasSubEntities ? batch.nodes.map { Int32($0.entity) } : []
        root = tree.root
        values = batch.nodes.map(\.firstVersion)
        let none = Array(repeating: LinkTargets.none, count: count)
        storedTargets = tree.foreignKeys.map { _ in none }
        targets = storedTargets
        rawTargets = tree.foreignKeys.map { _ in [] }
        expectedTargets = tree.foreignKeys.map { _ in [] }
        unnamedTargets = tree.foreignKeys.map { _ in [:] }
        storedOrders = tree.foreignKeys.map { _ in [] }
        orders = storedOrders
    }

    /// The rows as the rule for links asks for them.
    var rows: LinkStatements.Rows { .init(presence: presence, entities: entities) }

    mutating func forgetExpectedTargets() { expectedTargets = expectedTargets.map { _ in [] } }

    var isEmpty: Bool { presence.isEmpty }

    @inline(__always)
    mutating func markDirty(_ node: Int, column: Int) {
        if dirty.isEmpty { dirty = Array(repeating: 0, count: presence.count * words) }
        dirty[node * words + column >> 6] |= 1 << UInt64(column & 63)
    }

    func isDirty(_ node: Int) -> Bool {
        guard !dirty.isEmpty else { return false }
        for word in 0..<words where dirty[node * words + word] != 0 { return true }
        return false
    }

    /// The bits of a dirty node's columns.
    func dirtyColumns(_ node: Int) -> [UInt64] { Array(dirty[node * words..<(node + 1) * words]) }

    /// The entity a stored row is of; for others the node's own.
    @inline(__always)
    func entity(of node: Int) -> Int { entities.isEmpty ? root : Int(entities[node]) }

    mutating func setEntity(_ entity: Int, of node: Int) {
        if !entities.isEmpty { entities[node] = Int32(truncatingIfNeeded: entity) }
    }

    /// Gives a node a key that is not in its slot: hidden (`isHidden`), or local.
    mutating func setOwnedKey(_ key: RowKey, of node: Int, isHidden: Bool) {
        if isHidden, case .integer(let hidden) = key { nodeByHiddenKey[hidden] = Int32(truncatingIfNeeded: node) }
        rowKeys[Int32(truncatingIfNeeded: node)] = key
        ownedNodes[key] = Int32(truncatingIfNeeded: node)
    }

    /// Forgets a node whose row is another node's.
    mutating func drop(_ node: Int) {
        presence[node] = .missing
        values[node] = -1
        rowKeys[Int32(truncatingIfNeeded: node)] = nil
    }

    mutating func clearDirty(_ node: Int) {
        guard !dirty.isEmpty else { return }
        for word in 0..<words { dirty[node * words + word] = 0 }
    }

    /// The key a node's row is stored under.
    func rowKey(_ node: Int, _ batch: RowBatch, _ pool: TextPool) -> RowKey? {
        rowKeys[Int32(truncatingIfNeeded: node)] ?? RowKey(batch.nodes[node].key, pool)
    }
}

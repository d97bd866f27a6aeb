import SyncCore

/// What writes are recorded of, as numbers: rows, rows that are gone, the links at one end of a row, and key attributes
/// of tables with a hidden key. The triggers have them, so other numbers mean other triggers.
struct WrittenPlaces {
    /// Whatever there is: nothing is known any more.
    static let everything = 0
    /// While it is there, what was written may be forgotten.
    static let forgetting = -1

    private let tableCount: Int
    private let linkCount: Int
    private let firstSlots: [Int]
    private let slotCount: Int

    init(_ model: CompiledModel) {
        tableCount = model.trees.count
        linkCount = model.links.count
        var first = 0
        firstSlots = model.trees.map { tree in
            defer { first += tree.attributes.count }
            return first
        }
        slotCount = first
    }

    /// A row, any of its columns.
    func row(_ table: TableID) -> Int { 1 + 2 * table.index }
    /// A row that is not stored any more, or not under this key.
    func gone(_ table: TableID) -> Int { 2 + 2 * table.index }
    /// The links of a row at one end of a link.
    func links(_ link: LinkID, _ end: Link.End) -> Int { 1 + 2 * tableCount + 2 * link.index + end.rawValue }
    /// A row by its key attribute, where that is not the key of the table.
    func key(_ table: TableID, slot: Int) -> Int {
        1 + 2 * tableCount + 2 * linkCount + firstSlots[table.index] + slot
    }
    /// A row by its key of several parts, which an entity declares.
    func key(owner: Int) -> Int { 1 + 2 * tableCount + 2 * linkCount + slotCount + owner }
}

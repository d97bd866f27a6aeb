import SyncCore

/// What writes are recorded of, as numbers: rows, rows that are gone, the links at one end of a row, and key attributes
/// of tables with a hidden key. The triggers have them, so other numbers mean other triggers.
struct WrittenPlaces {
    /// Whatever there is: nothing is known any more.
    static let everything = 0
    /// While it is there, what was written may be forgotten.
    static let forgetting = -1

    private let treeCount: Int
    private let linkCount: Int
    private let firstSlots: [Int]

    init(_ model: CompiledModel) {
        treeCount = model.trees.count
        linkCount = model.links.count
        var first = 0
        firstSlots = model.trees.map { tree in
            defer { first += tree.attributes.count }
            return first
        }
    }

    /// A row, any of its columns.
    func row(_ tree: Int) -> Int { 1 + 2 * tree }
    /// A row that is not stored any more, or not under this key.
    func gone(_ tree: Int) -> Int { 2 + 2 * tree }
    /// The links of a row at one end of a link.
    func links(_ link: Int, _ end: Link.End) -> Int { 1 + 2 * treeCount + 2 * link + end.rawValue }
    /// A row by its key attribute, where that is not the key of the table.
    func key(_ tree: Int, slot: Int) -> Int { 1 + 2 * treeCount + 2 * linkCount + firstSlots[tree] + slot }
}

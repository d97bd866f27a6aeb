/// Which attributes and relationships the JSON keys of one object fill, each key resolved once by its bytes.
///
/// A table belongs to an entity, or to an object that dotted remote keys walk into.
struct KeyTable {
    /// What a key fills.
    enum Target {
        /// A lower strength wins; equal ones go by document order.
        case attribute(slot: Int, strength: Int)
        /// Under its own name or its remote key, where objects, ids and null may stand.
        case relationship(Int, strength: Int)
        /// Under a key that is for ids only.
        case ids(Int, strength: Int)
        /// The values are in an object: the table of its keys.
        case nested(table: Int)
    }

    struct Entry {
        var name: [UInt8]
        var targets: [Target]
        /// The entry that came after this one last time.
        var follower: Int32 = -1
        /// How often a key that fills nothing was seen.
        var unmapped = 0
    }

    let entity: Int
    /// The dotted path from the record to the object, empty for the record itself.
    let path: [String]
    /// The attributes that dotted remote keys fill from this object; null in its place clears them.
    let slots: [Int]
    private(set) var entries: [Entry] = []
    private var byHash: [UInt64: [Int32]] = [:]
    /// What the first key of an object was last time.
    private var first: Int32 = -1

    init(entity: Int, path: [String], slots: [Int] = []) {
        self.entity = entity
        self.path = path
        self.slots = slots
    }

    /// The entry of a key, guessing that keys come in the order they came in last time; nil if the key is new.
    @inline(__always)
    mutating func entry(for key: UnsafeBufferPointer<UInt8>, after previous: Int) -> Int? {
        let guess = Int(previous < 0 ? first : entries[previous].follower)
        if guess >= 0, isEntry(guess, key) { return guess }
        guard let found = byHash[TextPool.hash(key)]?.first(where: { isEntry(Int($0), key) }) else { return nil }
        learn(found, after: previous)
        return Int(found)
    }

    @inline(__always)
    private func isEntry(_ entry: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        entries[entry].name.withUnsafeBufferPointer { TextPool.equal($0, key) }
    }

    mutating func add(_ key: UnsafeBufferPointer<UInt8>, _ targets: [Target], after previous: Int) -> Int {
        entries.append(Entry(name: Array(key), targets: targets))
        let entry = Int32(truncatingIfNeeded: entries.count - 1)
        byHash[TextPool.hash(key), default: []].append(entry)
        learn(entry, after: previous)
        return entries.count - 1
    }

    private mutating func learn(_ entry: Int32, after previous: Int) {
        if previous < 0 { first = entry } else { entries[previous].follower = entry }
    }

    mutating func countUnmapped(_ entry: Int) { entries[entry].unmapped += 1 }
}

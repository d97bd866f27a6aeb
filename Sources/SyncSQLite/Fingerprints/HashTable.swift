/// A set of hashes, asked hundreds of thousands of times. Hashes are well mixed already, so they are their own places.
struct HashTable {
    private var places: [UInt64]
    private var hasZero = false
    private(set) var count = 0

    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        places = Array(repeating: 0, count: size)
    }

    init(_ hashes: some Collection<UInt64>) {
        self.init(capacity: hashes.count)
        for hash in hashes { insert(hash) }
    }

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    func contains(_ hash: UInt64) -> Bool {
        if hash == 0 { return hasZero }
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while places[place] != 0 {
            if places[place] == hash { return true }
            place = (place + 1) & mask
        }
        return false
    }

    /// Whether it was not there yet.
    @discardableResult
    mutating func insert(_ hash: UInt64) -> Bool {
        if hash == 0 {
            defer { hasZero = true }
            if !hasZero { count += 1 }
            return !hasZero
        }
        if count * 2 >= places.count { grow() }
        return add(hash)
    }

    private mutating func add(_ hash: UInt64) -> Bool {
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while places[place] != 0 {
            if places[place] == hash { return false }
            place = (place + 1) & mask
        }
        places[place] = hash
        count += 1
        return true
    }

    private mutating func grow() {
        let old = places
        count = hasZero ? 1 : 0
        places = Array(repeating: 0, count: old.count * 2)
        for hash in old where hash != 0 { _ = add(hash) }
    }
}

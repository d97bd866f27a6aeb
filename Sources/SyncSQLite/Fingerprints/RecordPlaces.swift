import SyncCore

/// The hashes of all that records speak of: rows they give, rows they refer to, links.
struct RecordPlaces: Equatable {
    private(set) var hashes: [UInt64] = []
    /// Per place, the entity of the row plus 1 if the record gives it, else 0.
    private(set) var kinds: [UInt16] = []

    var count: Int { hashes.count }

    mutating func reserve(_ count: Int) {
        hashes.reserveCapacity(count)
        kinds.reserveCapacity(count)
    }

    /// Adds a place of the record whose places begin at `start`. It says the same of a link for each row of a list.
    mutating func add(_ hash: UInt64, kind: UInt16 = 0, from start: Int) {
        if kind == 0 {
            for known in max(start, hashes.count - 32)..<hashes.count where hashes[known] == hash { return }
        }
        hashes.append(hash)
        kinds.append(kind)
    }

    mutating func append(_ other: RecordPlaces, _ range: Range<Int>) {
        hashes += other.hashes[range]
        kinds += other.kinds[range]
    }

    mutating func append(hashes: [UInt64], kinds: [UInt16]) {
        self.hashes += hashes
        self.kinds += kinds
    }
}

/// Fingerprints with what their records speak of.
struct FingerprintList {
    var fingerprints: [Fingerprint] = []
    var places = RecordPlaces()
    /// What the records have that nothing in the model takes.
    var unmapped: [[SyncResult.UnmappedKey]] = [[]]
}

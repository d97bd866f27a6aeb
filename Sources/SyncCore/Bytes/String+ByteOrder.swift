import Foundation

extension String {
    /// Whether two texts have the same bytes, as the database compares them.
    func hasBytes(of other: String) -> Bool {
        let isSame = withBytes(other) { left, right in
            guard left.count == right.count else { return false }
            guard let l = left.baseAddress, let r = right.baseAddress else { return true }
            return memcmp(l, r, left.count) == 0
        }
        return isSame ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes of a text come before those of another: the order of the database.
    func precedesByBytes(_ other: String) -> Bool {
        let precedes = withBytes(other) { left, right in
            guard let l = left.baseAddress, let r = right.baseAddress else { return left.count < right.count }
            let difference = memcmp(l, r, min(left.count, right.count))
            return difference == 0 ? left.count < right.count : difference < 0
        }
        return precedes ?? utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Nil where the bytes of one are not in one piece: texts of another runtime.
    private func withBytes<Result>(
        _ other: String, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in body(left, right) }
        } ?? nil
    }
}

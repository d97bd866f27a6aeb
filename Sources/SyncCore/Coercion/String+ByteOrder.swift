extension String {
    /// Whether two texts have the same bytes, as the database compares them.
    func hasBytes(of other: String) -> Bool {
        withBytes(other) { TextPool.equal($0, $1) } ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes of a text come before those of another: the order of the database.
    func precedesByBytes(_ other: String) -> Bool {
        withBytes(other) { TextPool.precedes($0, $1) } ?? utf8.lexicographicallyPrecedes(other.utf8)
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

import GRDB

extension Row {
    /// The value of a column with all of its text, which GRDB reads up to the first NUL.
    func wholeValue(at index: Int) throws -> DatabaseValue {
        let value: DatabaseValue = self[index]
        guard case .string = value.storage else { return value }
        return try withUnsafeData(atIndex: index) { data in
            data.map { String(decoding: $0, as: UTF8.self).databaseValue } ?? value
        }
    }
}

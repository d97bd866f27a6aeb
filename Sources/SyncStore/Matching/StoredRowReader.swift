public import SyncCore

// The parts of a database that matching needs. Each database has its own types for them.
//
// Matching reads every column of every row, so its functions must be specialised for the reader of a database. Generic
// functions of another module are specialised only if they are `@inlinable` and all that they use is `@usableFromInline`.
// `@inlinable` alone has no effect on a member of a `package` type. So the inlinable functions are short: they read
// columns, and pass the values to functions that are not generic.

/// The rows of a result, read one after another. The columns are those of the current row.
@usableFromInline
package protocol StoredRowReader {
    /// Reads the next row.
    ///
    /// - Returns: False if there is none.
    func step() throws -> Bool

    func isNull(_ column: Int) -> Bool

    /// Returns the value of a column as an integer, converted if the column stores another type.
    func integer(_ column: Int) -> Int64

    /// Returns the value of a column as a floating-point number, converted if the column stores another type.
    func real(_ column: Int) -> Double

    /// Returns the bytes of a text, valid until the next row is read.
    func text(_ column: Int) -> UnsafeBufferPointer<UInt8>

    func string(_ column: Int) -> String

    /// Returns the row key in a column; nil for null and other values that cannot be a key.
    func key(_ column: Int) -> RowKey?

    /// Returns whether a column stores a key of this type, so that the key is read without a conversion that loses
    /// something.
    func hasKey(_ column: Int, of type: AttributeType) -> Bool

    /// Returns whether a column contains the stored form of a packed value; true for an absent value.
    func column(_ column: Int, equals value: PackedValue, _ pool: TextPool) -> Bool
}

/// A statement whose parameters are bound to values. The first parameter has the number 1.
@usableFromInline
package protocol ParameterBinder {
    /// Binds a packed value. Texts and blobs are not copied, so their bytes must stay valid until the statement is
    /// reset.
    func bind(_ value: PackedValue, at parameter: Int, _ pool: TextPool)

    func bind(_ value: Int64, at parameter: Int)

    func bind(_ key: RowKey, at parameter: Int)

    func bindNull(at parameter: Int)

    func bind(copying blob: [UInt8], at parameter: Int)
}

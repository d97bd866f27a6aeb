/// How a payload that is read in pieces is cut and written.
public struct PieceOptions: Sendable, Hashable {
    /// In how many transactions the pieces are written.
    public enum Transactions: String, Sendable, Hashable, CaseIterable {
        /// All of the payload or nothing. Until the end the write-ahead log grows to the size of what is written.
        case one
        /// Each piece in its own, as pages of a run: others can write in between, and the rows of the pieces before one
        /// that fails stay. What the payload leaves out is deleted at the end, if all of it could be read.
        case onePerPiece
    }

    /// The size of a piece in bytes. A piece holds whole records, so it is larger where a record is.
    ///
    /// A sync holds two pieces at a time, each with what it is mapped to: six times this size together, of long lists of
    /// ids eighteen times, besides a page cache of 64 MB. Smaller pieces take less memory and more time.
    public var size: Int
    /// In how many transactions the pieces are written.
    public var transactions: Transactions
    /// How many bytes a run may take to remember rows, before it keeps them in a temporary table.
    package var markLimit = 32 << 20

    /// Pieces of 4 MB, all in one transaction.
    public init(size: Int = 4 << 20, transactions: Transactions = .one) {
        self.size = size
        self.transactions = transactions
    }
}

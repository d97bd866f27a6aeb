/// One JSON value as a flat list of tokens in document order, reused from record to record.
///
/// An object's token is followed by its members, each a string token for the key and then the value; an array's by
/// its elements. `next` of a token is the index of the first token after its whole value.
package struct JSONTape: Sendable {
    package enum Kind: UInt8, Sendable { case null, false_, true_, number, string, object, array }

    package struct Token: Sendable {
        /// Where the value's text starts in the payload: after the quote of a string, at the first digit of a number.
        package var offset: Int
        /// The text's length in bytes; of an object or array the number of members or elements.
        package var length: UInt32
        /// The index of the token after this value.
        package var next: UInt32
        package var kind: Kind
        /// Whether a string has backslash escapes, so that its text must be unescaped.
        package var hasEscapes: Bool

        package init(kind: Kind, offset: Int, length: UInt32 = 0, next: UInt32 = 0, hasEscapes: Bool = false) {
            self.kind = kind
            self.offset = offset
            self.length = length
            self.next = next
            self.hasEscapes = hasEscapes
        }
    }

    package var tokens: [Token] = []

    package init() {}
}

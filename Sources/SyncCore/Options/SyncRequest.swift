/// What a caller asks of a store, beside the payload: the same for every way in.
package struct SyncRequest: Sendable {
    /// Which stored rows the payload speaks for.
    package var predicate: RecordPredicate?
    package var options: SyncOptions
    /// Whether everything is taken back at the end, so that only the result is left.
    package var isDryRun: Bool
    /// Whether the payload is read in pieces.
    package var isInPieces = false

    /// Whether the payload, or what is asked, is a part of something longer: it cannot be applied twice.
    package var isOfPart: Bool { isInPieces || options.payload.run != nil }

    package init(
        predicate: RecordPredicate? = nil, options: SyncOptions = SyncOptions(), isDryRun: Bool = false
    ) {
        self.predicate = predicate
        self.options = options
        self.isDryRun = isDryRun
    }
}

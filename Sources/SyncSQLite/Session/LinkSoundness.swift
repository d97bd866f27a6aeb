import SyncCore

/// Which links lead to stored rows only. What a connection with foreign keys on writes leaves them so.
struct LinkSoundness {
    /// The links that were looked through, or that there are too many of to do so without a reason.
    var weighed: Set<LinkID> = []
    var sound: Set<LinkID> = []

    mutating func formUnion(_ other: LinkSoundness) {
        weighed.formUnion(other.weighed)
        sound.formUnion(other.sound)
    }
}

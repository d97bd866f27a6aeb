import ArgumentParser
import Sync

/// How much of a long list is printed for people.
struct ListOptions: ParsableArguments {
    @Flag(help: "List everything, not only the first 20 of a kind.")
    var all = false

    /// How many things of a kind are listed; nil for all.
    var limit: Int? { all ? nil : ShortListLimit.standard }
}

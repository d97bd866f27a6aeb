import Hummingbird
import NIOCore

/// Hands the connection of a request to the responder, which has to break some.
struct Connection: InitializableFromSource {
    /// The way to the client.
    let channel: any Channel

    /// Takes the connection that a request came on.
    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// Closes the connection, whatever is still to be sent.
    func close() async {
        // It may be closed already, which is all that can go wrong and what was wanted.
        try? await channel.close()
    }
}

import TestServers
import Testing

/// Tests with real servers. They run serially, because many measure time and would overload a machine with two cores.
@Suite(OverEachTransport(), .serialized, .timeLimit(.minutes(1)))
enum TransportTests {}

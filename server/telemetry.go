package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	promotel "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/stats"
)

// telemetry sends traces and metrics by OTLP, as OpenTelemetry's standard environment
// variables say (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER,
// OTEL_SDK_DISABLED and so on). The zero value sends nothing.
//
// A span has the method, the status and the decision id; a metric is one of /metrics.
// Neither has anything of a request.
type telemetry struct {
	handler stats.Handler // of the transport; nil without traces
	stops   []func(context.Context) error
}

// newTelemetry starts what the environment asks for. gatherer has the metrics of
// /metrics. log gets what OpenTelemetry says of itself, from here on for the whole
// process: it knows one place only, and without this that is lines of another form.
func newTelemetry(ctx context.Context, env func(string) string, gatherer prometheus.Gatherer, log *slog.Logger) (telemetry, error) {
	var t telemetry
	if env("OTEL_SDK_DISABLED") == "true" || !asked(env, "TRACES") && !asked(env, "METRICS") {
		return t, nil
	}
	if err := checkEndpoints(env); err != nil {
		return t, fmt.Errorf("telemetry: %w", err)
	}
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("telemetry was not sent", "cause", err)
	}))
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "hallmark")), resource.WithFromEnv())
	if err != nil {
		return t, fmt.Errorf("telemetry: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if asked(env, "TRACES") {
		if err := checkProtocol(env, "TRACES"); err != nil {
			return t, fmt.Errorf("telemetry: traces: %w", err)
		}
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return t, fmt.Errorf("telemetry: traces: %w", err)
		}
		provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
		t.stops = append(t.stops, provider.Shutdown)
		t.handler = otelgrpc.NewServerHandler(
			otelgrpc.WithTracerProvider(provider),
			otelgrpc.WithMeterProvider(metricnoop.NewMeterProvider()), // /metrics has them
			otelgrpc.WithPropagators(propagation.TraceContext{}),
			otelgrpc.WithFilter(traced),
		)
	}
	if asked(env, "METRICS") {
		if err := checkProtocol(env, "METRICS"); err != nil {
			return t, errors.Join(fmt.Errorf("telemetry: metrics: %w", err), t.stop(ctx))
		}
		exporter, err := otlpmetrichttp.New(ctx) // it reads OTEL_EXPORTER_OTLP_* itself
		if err != nil {
			return t, errors.Join(fmt.Errorf("telemetry: metrics: %w", err), t.stop(ctx))
		}
		reader := metric.NewPeriodicReader(exporter,
			metric.WithProducer(promotel.NewMetricProducer(promotel.WithGatherer(gatherer))))
		t.stops = append(t.stops, metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(about)).Shutdown)
	}
	return t, nil
}

// checkProtocol refuses what is not OTLP over HTTP, the specification's default.
func checkProtocol(env func(string) string, signal string) error {
	exporter := env("OTEL_" + signal + "_EXPORTER")
	protocol := cmp.Or(env("OTEL_EXPORTER_OTLP_"+signal+"_PROTOCOL"), env("OTEL_EXPORTER_OTLP_PROTOCOL"), protocolHTTP)
	if exporter != "" && exporter != "otlp" || protocol != protocolHTTP {
		return errProtocol
	}
	return nil
}

const protocolHTTP = "http/protobuf"

var errProtocol = errors.New("the exporter is otlp or none, and OTEL_EXPORTER_OTLP_PROTOCOL http/protobuf")

// checkEndpoints refuses addresses that the exporters would leave aside with a line in the
// log, to send to a collector on this machine instead. A value may hold a secret and is not
// in the error.
func checkEndpoints(env func(string) string) error {
	for _, name := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
	} {
		value := env(name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return fmt.Errorf("%s is no address of a collector; write one such as http://127.0.0.1:4318", name)
		}
	}
	return nil
}

// asked reports whether the environment asks for a signal, TRACES or METRICS. By
// OpenTelemetry's rules an exporter would be on without any variable, towards a collector
// on this machine; a service that nobody has configured sends nothing.
func asked(env func(string) string, signal string) bool {
	if exporter := env("OTEL_" + signal + "_EXPORTER"); exporter != "" {
		return exporter != "none"
	}
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// traced leaves out what probes do all the time.
func traced(info *stats.RPCTagInfo) bool {
	switch info.FullMethodName {
	case "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch", "/grpc.health.v1.Health/List":
		return false
	}
	return true
}

// stop sends what is left, traces and metrics at the same time.
func (t telemetry) stop(ctx context.Context) error {
	errs := make([]error, len(t.stops))
	var stopped sync.WaitGroup
	for i, stop := range t.stops {
		stopped.Go(func() { errs[i] = stop(ctx) })
	}
	stopped.Wait()
	return errors.Join(errs...)
}

// nameSpan gives the span of a call its decision id, so that traces lead to the record.
func nameSpan(ctx context.Context, id string) {
	oteltrace.SpanFromContext(ctx).SetAttributes(attribute.String("hallmark.decision_id", id))
}

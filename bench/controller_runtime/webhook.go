package main

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// guard does the same as webhooks_windvane.py: it puts a label on each parcel, and refuses one that nobody sends.
type guard struct{}

func (guard) Default(_ context.Context, parcel *Parcel) error {
	if parcel.Labels == nil {
		parcel.Labels = map[string]string{}
	}
	parcel.Labels["guarded"] = "yes"
	return nil
}

func (guard) ValidateCreate(_ context.Context, parcel *Parcel) (admission.Warnings, error) {
	if parcel.Spec.Sender == "" {
		return nil, fmt.Errorf("somebody must send it")
	}
	return nil, nil
}

func (g guard) ValidateUpdate(ctx context.Context, _, parcel *Parcel) (admission.Warnings, error) {
	return g.ValidateCreate(ctx, parcel)
}

func (guard) ValidateDelete(context.Context, *Parcel) (admission.Warnings, error) {
	return nil, nil
}

// serveWebhooks serves both at /mutate-bench-windvane-dev-v1-parcel and /validate-bench-windvane-dev-v1-parcel.
func serveWebhooks(port int, certificates string) error {
	manager, err := newManager(webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates}))
	if err != nil {
		return err
	}
	if err := ctrl.NewWebhookManagedBy(manager, &Parcel{}).WithDefaulter(guard{}).WithValidator(guard{}).Complete(); err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	go func() {
		<-manager.Elected()
		fmt.Println("started")
	}()
	return manager.Start(ctx)
}

// The contender of bench/operators.py that is written with controller-runtime, as its users would write it.
//
// It does the same as operators_windvane.py and operators_kopf.py: each Parcel gets a ConfigMap that it owns, and a
// status. With -idle it only looks at them. It says on standard output when its caches are filled ("synced") and,
// with -idle, when it has been called for so many objects ("visited"). With -webhook it is the contender of
// bench/webhooks.py instead.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

var groupVersion = schema.GroupVersion{Group: "bench.windvane.dev", Version: "v1"}

type ParcelSpec struct {
	Sender string   `json:"sender"`
	Note   string   `json:"note"`
	Steps  []string `json:"steps,omitempty"`
	Weight int64    `json:"weight,omitempty"`
}

type ParcelStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type Parcel struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ParcelSpec   `json:"spec"`
	Status            ParcelStatus `json:"status,omitempty"`
}

type ParcelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Parcel `json:"items"`
}

func (in *Parcel) DeepCopyInto(out *Parcel) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Steps = append([]string(nil), in.Spec.Steps...)
	out.Status.Conditions = nil
	for i := range in.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *in.Status.Conditions[i].DeepCopy())
	}
}

func (in *Parcel) DeepCopyObject() runtime.Object {
	out := new(Parcel)
	in.DeepCopyInto(out)
	return out
}

func (in *ParcelList) DeepCopyObject() runtime.Object {
	out := &ParcelList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Parcel, len(in.Items))
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}

type reconciler struct {
	client.Client
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var parcel Parcel
	if err := r.Get(ctx, request.NamespacedName, &parcel); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: parcel.Name, Namespace: parcel.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = map[string]string{
			"sender": parcel.Spec.Sender, "note": parcel.Spec.Note, "weight": strconv.FormatInt(parcel.Spec.Weight, 10),
		}
		return controllerutil.SetControllerReference(&parcel, child, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	changed := parcel.Status.ObservedGeneration != parcel.Generation
	parcel.Status.ObservedGeneration = parcel.Generation
	changed = meta.SetStatusCondition(&parcel.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Reconciled", ObservedGeneration: parcel.Generation,
	}) || changed
	if !changed {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Update(ctx, &parcel)
}

type onlooker struct {
	client.Client
	called atomic.Int64
	count  int64
}

func (o *onlooker) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var parcel Parcel
	if err := o.Get(ctx, request.NamespacedName, &parcel); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if o.called.Add(1) == o.count {
		fmt.Println("visited")
	}
	return ctrl.Result{}, nil
}

func main() {
	workers := flag.Int("workers", 1, "how many objects are worked on at once")
	idle := flag.Int64("idle", 0, "only look at the objects, and say when so many have been seen")
	port := flag.Int("webhook", 0, "guard parcels at this port, and do nothing else")
	certificates := flag.String("certificates", "", "where the webhook has its tls.crt and tls.key")
	flag.Parse()
	log.SetLogger(zap.New())
	var err error
	if *port != 0 {
		err = serveWebhooks(*port, *certificates)
	} else {
		err = run(*workers, *idle)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newManager(server webhook.Server) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	scheme.AddKnownTypes(groupVersion, &Parcel{}, &ParcelList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // no limit
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: server,
	})
}

func run(workers int, idle int64) error {
	manager, err := newManager(nil)
	if err != nil {
		return err
	}
	builder := ctrl.NewControllerManagedBy(manager).For(&Parcel{}).Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers})
	if idle > 0 {
		err = builder.Complete(&onlooker{Client: manager.GetClient(), count: idle})
	} else {
		err = builder.Complete(&reconciler{Client: manager.GetClient()})
	}
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	go func() {
		<-manager.Elected()
		// The controller has asked for these by now, or will; asking twice makes no difference.
		for _, kind := range []client.Object{&Parcel{}, &corev1.ConfigMap{}} {
			if _, err := manager.GetCache().GetInformer(ctx, kind); err != nil {
				return
			}
		}
		if manager.GetCache().WaitForCacheSync(ctx) {
			fmt.Println("synced")
		}
	}()
	return manager.Start(ctx)
}
